/**
 * The colours of the pictures, by day and by night. They bring a ground of their own: an image in a
 * page does not know whether the page is dark, only whether the system is.
 */
export const theme = `
  svg { font: 13px system-ui, sans-serif; --ground: #fff; --text: #1f2430; --faint: #667085;
    --line: #d5d9e0; --band: #f6e3df; --bandText: #a13a22; --load: #7b8aa5; --ours: #1d6fd8;
    --bad: #b3261e; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #14171d; --text: #e8ebf1; --faint: #9aa3b4; --line: #333945; --band: #3a2420;
      --bandText: #f0a493; --load: #8494b3; --ours: #5aa2ff; --bad: #ff8a7e; }
  }
  .ground { fill: var(--ground); } text { fill: var(--text); } .faint { fill: var(--faint); }
  .small { font-size: 11px; } .name { font-weight: 600; } .figure { text-anchor: end; }
  .bad { fill: var(--bad); font-weight: 600; } .band { fill: var(--band); }
  .bandText { fill: var(--bandText); text-anchor: middle; } .middle { text-anchor: middle; }
  .load { fill: var(--load); } .ours { fill: var(--ours); }
  .axis { stroke: var(--line); } .capacity { stroke: var(--faint); stroke-dasharray: 2 3; }
`;
