/** What the shapes in the picture mean. Their colours are said in words beside each attempt. */
export function Legend() {
  return (
    <p className="legend">
      <span>
        <i className="swatch" data-shape="request" /> request
      </span>
      <span>
        <i className="swatch" data-shape="wait" /> wait, as planned
      </span>
      <span>
        <i className="swatch" data-shape="pause" /> paused
      </span>
      <span>
        <i className="swatch" data-shape="now" /> now
      </span>
    </p>
  );
}
