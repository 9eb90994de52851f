import { registerHooks } from 'node:module';
import { toFloor } from './floor-versions.ts';

// The config's aliases only reach files that Vite transforms. Node loads everything else itself
// (react-dom requiring react, Testing Library importing react-dom), so the same names are mapped
// there too: otherwise two Reacts would meet in one test.
registerHooks({
  resolve: (specifier, context, nextResolve) => nextResolve(toFloor(specifier), context),
});
