export const dynamic = 'force-dynamic';

export const GET = () => Response.json(['half a kite']);
