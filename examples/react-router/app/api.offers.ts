export const loader = () => Response.json(['half a kite']);
