import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  readonly children: ReactNode;
}

/**
 * The devtools show data of the app: keys, errors, outbox entries. If any of it cannot be shown, the devtools
 * end, never the app. React writes the error to the console.
 */
export class Boundary extends Component<BoundaryProps, { readonly failure: string | undefined }> {
  override state = { failure: undefined };

  static getDerivedStateFromError(error: unknown): { readonly failure: string } {
    return { failure: error instanceof Error ? error.message : 'An error without a message.' };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    return (
      <div
        role="alert"
        style={{
          position: 'fixed',
          bottom: 0,
          left: 0,
          padding: '0.5rem',
          font: '0.8rem sans-serif',
          color: '#fff',
          background: '#8b1a1a',
          zIndex: 99_999,
        }}
      >
        The Steadfetch devtools have crashed. The app is not affected. {failure}{' '}
        <button type="button" onClick={() => this.setState({ failure: undefined })}>
          Open them again
        </button>
      </div>
    );
  }
}
