/** What else a user does when an answer does not come. */
export function ReloadControls({ onStartOver }: { readonly onStartOver: () => void }) {
  return (
    <div className="visit-controls">
      <button type="button" className="button" onClick={() => location.reload()}>
        Reload the page
      </button>
      <button type="button" className="button" onClick={onStartOver}>
        Start over
      </button>
    </div>
  );
}
