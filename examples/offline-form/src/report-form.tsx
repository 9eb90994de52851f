import { type FormEvent, useState } from 'react';
import { useOutboxMutation } from 'steadfetch/react';
import { outbox } from './outbox.ts';

const addReport = outbox.mutationOptions('addReport');

export function ReportForm() {
  const [text, setText] = useState('');
  const { mutate, isSaved, isPending, isSuccess, error } = useOutboxMutation(addReport);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ text });
    setText('');
  };
  return (
    <form onSubmit={onSubmit}>
      <label>
        What is broken?{' '}
        <input required value={text} onChange={(event) => setText(event.target.value)} />
      </label>{' '}
      <button>Report</button>
      <p role="status">
        {isPending && (isSaved ? 'Saved. It is sent as soon as that is possible.' : 'Saving.')}
        {isSuccess && 'Delivered.'}
        {error?.message}
      </p>
    </form>
  );
}
