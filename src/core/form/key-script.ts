/** For how long a tab remembers a form that its browser has sent without JavaScript, in milliseconds. */
export const nativeMs = 60_000;

/**
 * Serves the key of a form before the page has its JavaScript: a key whose outcome is unknown comes back after a
 * reload, and one that the browser sends itself is remembered. `ActionForm` goes on with it.
 */
const source = `(function(name,submission,nativeMs){
try{
var input=document.currentScript.previousElementSibling;
var read=function(){return JSON.parse(sessionStorage.getItem(name)||'{}')};
var write=function(kept){sessionStorage.setItem(name,JSON.stringify(kept))};
var kept=read();
if(submission&&kept.unknown===submission){delete kept.unknown;write(kept)}
else if(kept.unknown&&!(Date.now()-kept.sentAt>nativeMs))input.value=kept.unknown;
input.form.addEventListener('submit',function(){
if('live' in input.dataset)return;
kept=read();kept.unknown=input.value;kept.sentAt=Date.now();write(kept)
})
}catch(e){}
})`;

/** The script that follows the hidden field. `submission`: the key that the state of the page has answered. */
export function keyScript(name: string, submission: string | undefined): string {
  const values = [name, submission ?? null, nativeMs].map((value) => JSON.stringify(value));
  // A name must not end the script.
  return `${source}(${values.join(',').replaceAll('<', '\\u003c')})`;
}
