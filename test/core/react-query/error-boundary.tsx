import { Component, type ReactNode } from 'react';
import { onTestFinished, vi } from 'vitest';

interface Props {
  readonly children: ReactNode;
}

interface State {
  readonly error: Error | undefined;
}

/** Shows the message of what was thrown below it. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined };

  constructor(props: Props) {
    super(props);
    // React reports what a boundary has caught: not worth a line in the log of the tests.
    const silent = vi.spyOn(console, 'error').mockImplementation(() => {});
    const prevent = (event: Event): void => event.preventDefault();
    window.addEventListener('error', prevent);
    onTestFinished(() => {
      silent.mockRestore();
      window.removeEventListener('error', prevent);
    });
  }

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error ? <p role="alert">{`Failed: ${error.message}`}</p> : this.props.children;
  }
}
