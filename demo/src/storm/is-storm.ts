/** Whether a URL hash shows the storm, which is the demo's home: none, or `#/`. */
export const isStorm = (hash: string): boolean => hash === '' || hash === '#' || hash === '#/';
