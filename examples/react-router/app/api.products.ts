export const loader = () => Response.json(['kite', 'lamp', 'rope']);
