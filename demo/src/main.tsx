import { hydrateRoot } from 'react-dom/client';
import { App } from './app.tsx';
import 'steadfetch/ui.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/act.css';

const container = document.querySelector('#root');
if (!container) throw new Error('index.html has no #root.');

// The frame of the page is in the HTML already. No StrictMode: in development it mounts everything
// twice, and a query whose queryFn takes the signal then sends its first request twice. Here requests
// are counted.
hydrateRoot(container, <App />);
