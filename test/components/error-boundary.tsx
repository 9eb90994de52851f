import { Component, type ReactNode } from 'react';

interface Props {
  readonly children: ReactNode;
  readonly onReset?: () => void;
}

interface State {
  readonly error: Error | undefined;
}

/** As react-error-boundary has it. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const reset = (): void => {
      this.props.onReset?.();
      this.setState({ error: undefined });
    };
    return (
      <div role="alert">
        Failed: {error.message} <button onClick={reset}>Try again</button>
      </div>
    );
  }
}
