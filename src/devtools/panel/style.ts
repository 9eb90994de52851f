/** The panel's style. Its shadow tree isolates it from the page's style in both directions. */
export const style = `
.root{all:initial;display:block;color-scheme:light dark;
--bg:light-dark(#fff,#0f1520);--raised:light-dark(#f5f7fa,#161e2b);--hover:light-dark(#e9eef5,#1e2838);
--line:light-dark(#d9e0ea,#2a3648);--ink:light-dark(#17202e,#e6ecf5);--soft:light-dark(#526073,#9aa9bf);
--accent:light-dark(#0b62c4,#6cb2ff);--on:light-dark(#fff,#08121f);
--good:light-dark(#0f6631,#4ecb83);--warn:light-dark(#7d4a00,#f0b24a);--bad:light-dark(#b8202f,#ff8087);--info:light-dark(#0b62c4,#6cb2ff);
font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:var(--ink);text-align:left;font-variant-numeric:tabular-nums}
*,*::before,*::after{box-sizing:border-box}
p,h2,h3,ul,ol,dl,dd{margin:0;padding:0;list-style:none;font-size:inherit}
h2,h3{font-weight:600}
code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12px}
button,input,select,textarea{font:inherit;color:inherit}
button{cursor:pointer;border:1px solid var(--line);border-radius:6px;background:var(--bg);padding:3px 10px;white-space:nowrap}
button:hover{background:var(--hover)}
button[data-primary]{background:var(--accent);border-color:var(--accent);color:var(--on);font-weight:600}
button[aria-disabled=true]{color:var(--soft);cursor:default;background:none;border-style:dashed}
input,select,textarea{border:1px solid var(--line);border-radius:6px;background:var(--bg);padding:3px 8px;min-width:0}
input[type=range]{padding:0;accent-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.told{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.soft{color:var(--soft)}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.info{color:var(--info)}
.grow{flex:1;min-width:0}
.row{display:flex;gap:8px;align-items:center;flex-wrap:wrap}
.cut{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.badge{position:fixed;z-index:99998;display:flex;gap:8px;align-items:center;height:40px;padding:0 14px 0 12px;border-radius:20px;background:var(--bg);font-weight:600;box-shadow:0 2px 10px #0003,0 0 0 1px var(--line);border:0}
.badge[data-at$=left]{left:12px}.badge[data-at$=right]{right:12px}.badge[data-at^=bottom]{bottom:12px}.badge[data-at^=top]{top:12px}
.badge b{min-width:20px;padding:0 6px;border-radius:10px;background:var(--tone);color:var(--on);text-align:center;font-size:12px;line-height:20px}
.dot{flex:none;width:10px;height:10px;border-radius:50%;background:var(--tone)}
[data-tone]{--tone:var(--soft)}[data-tone=good]{--tone:var(--good)}[data-tone=warn]{--tone:var(--warn)}[data-tone=bad]{--tone:var(--bad)}[data-tone=info]{--tone:var(--info)}
.chip{flex:none;display:inline-flex;gap:5px;align-items:center;padding:0 8px;border-radius:10px;font-size:12px;line-height:20px;font-weight:600;color:var(--tone);background:color-mix(in srgb,var(--tone) 14%,transparent)}
.dock{position:fixed;z-index:99998;inset:auto 0 0 0;height:min(460px,75vh);border-top:1px solid var(--line);box-shadow:0 -6px 24px #0003}
.panel{display:flex;flex-direction:column;background:var(--bg);height:100%;min-height:0;container-type:inline-size}
.fill{height:100%}.root[data-theme=light]{color-scheme:light}.root[data-theme=dark]{color-scheme:dark}
.head{display:flex;align-items:stretch;gap:4px;padding:0 8px 0 14px;background:var(--raised);border-bottom:1px solid var(--line)}
.brand{display:flex;gap:8px;align-items:center;font-weight:700;padding-right:10px}
.tabs{display:flex;flex:1;min-width:0;overflow-x:auto;scrollbar-width:none}
.tabs button{border:0;border-radius:0;background:none;padding:9px 11px 7px;border-bottom:2px solid transparent;color:var(--soft);font-weight:500}
.tabs button:hover{color:var(--ink)}
.tabs button[aria-selected=true]{color:var(--ink);border-color:var(--accent);font-weight:600}
.tabs button:focus-visible{outline-offset:-3px}
.count{margin-left:6px;padding:0 6px;border-radius:9px;background:var(--hover);font-size:11px;line-height:18px;display:inline-block;color:var(--ink)}
.close{align-self:center;border:0;background:none;padding:4px 9px;font-size:16px;line-height:1}
.body{flex:1;min-height:0;overflow:auto;padding:14px}
.body:focus-visible{outline-offset:-3px}
.body.bare{padding:0}
.split{height:100%;display:grid;grid-template-columns:minmax(260px,5fr) 7fr;overflow:hidden}
.pane{overflow:auto;min-height:0}
.pane+.pane{border-left:1px solid var(--line)}
.empty{padding:36px 16px;text-align:center;color:var(--soft);max-width:46ch;margin:0 auto}
.empty b{display:block;color:var(--ink);font-size:14px;margin-bottom:4px}
.card{border:1px solid var(--line);border-radius:8px;background:var(--bg);overflow:hidden}
.card+.card{margin-top:14px}
.card>header{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center;padding:9px 14px;background:var(--raised);border-bottom:1px solid var(--line)}
.card>.in{padding:12px 14px}
.facts{display:flex;flex-wrap:wrap;gap:6px 26px}
.facts dt{color:var(--soft);font-size:12px}
.facts dd{font-weight:500}
table{width:100%;border-collapse:collapse}
th{font-weight:500;color:var(--soft);font-size:12px;text-align:left;white-space:nowrap}
th,td{padding:7px 14px;border-top:1px solid var(--line);vertical-align:middle}
th:not(:first-child),td:not(:first-child){padding-left:0}
td.name{overflow-wrap:anywhere}
.strip{display:flex;gap:1px;height:16px;min-width:124px;max-width:360px;align-items:flex-end}
.strip i{flex:1;height:100%;border-radius:1px;background:var(--hover)}
.strip i[data-cell=ok]{background:var(--good);height:45%}.strip i[data-cell=limited]{background:var(--warn);height:75%}
.strip i[data-cell=failed]{background:color-mix(in srgb,var(--bad) 60%,transparent);height:75%}.strip i[data-cell=down]{background:var(--bad)}
.key{display:flex;flex-wrap:wrap;gap:4px 14px;margin-top:12px;font-size:12px;color:var(--soft)}
.key .strip{display:inline-flex;min-width:0;width:5px;height:12px;margin-right:5px;vertical-align:-1px}
.list>li{border-bottom:1px solid var(--line)}
.op{display:grid;grid-template-columns:102px 1fr auto;gap:2px 10px;align-items:center;width:100%;border:0;border-radius:0;background:none;text-align:left;padding:9px 14px;white-space:normal}
.op .chip{justify-self:start}
.op small{grid-column:2/-1;color:var(--soft);font-size:12px}
.op[aria-current=true]{background:var(--hover);box-shadow:inset 3px 0 var(--accent)}
.op:focus-visible{outline-offset:-3px}
.detail{padding:14px}
.detail h2{font-size:14px;overflow-wrap:anywhere}
.actions{display:flex;flex-wrap:wrap;gap:8px;margin:10px 0 0}
.time{margin-top:16px}
.time>li{position:relative;display:grid;grid-template-columns:70px 1fr;gap:0 24px;padding-bottom:13px}
.time>li>.at{color:var(--soft);font-size:12px;text-align:right;line-height:20px;white-space:nowrap}
.time>li::before{content:'';position:absolute;left:77px;top:6px;width:9px;height:9px;border-radius:50%;background:var(--tone);z-index:1}
.time>li:not(:last-child)::after{content:'';position:absolute;left:81px;top:10px;bottom:-8px;width:1px;background:var(--line)}
.time h3{font-weight:600;color:var(--ink)}
.time p{color:var(--soft);overflow-wrap:anywhere}
.options{margin-top:6px;display:grid;grid-template-columns:max-content max-content 1fr;gap:1px 14px;padding:6px 10px;border-radius:6px;background:var(--raised);font-size:12px}
.bar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;padding:8px 14px;border-bottom:1px solid var(--line)}
.bar input[type=search]{flex:1 1 160px}
.replay{background:color-mix(in srgb,var(--info) 14%,var(--bg))}
.log>li{display:grid;grid-template-columns:max-content 122px 1fr;gap:12px;padding:3px 14px;border-bottom:1px solid var(--line)}
.log>li>*{min-width:0;overflow-wrap:anywhere}
.form{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;align-items:end}
.form label{display:grid;gap:3px;color:var(--soft);font-size:12px}
.form label>*{color:var(--ink);font-size:13px;height:30px}
.form button{height:30px}
textarea{width:100%;min-height:90px;resize:vertical}
pre{margin:8px 0 0;padding:8px 10px;border-radius:6px;background:var(--raised);overflow:auto;max-height:180px;white-space:pre-wrap;overflow-wrap:anywhere}
.note{margin:0 0 14px;color:var(--soft)}.card+.note{margin-top:14px}
.log.two>li{grid-template-columns:max-content 1fr}
.list>li:last-child{border:0}
li.in{padding:10px 14px}li.in:not(.row)>*+*{margin-top:6px}.foot{border:solid var(--line);border-width:1px 0 0}
.key-text{overflow-wrap:anywhere;font-weight:400}
.acts{display:flex;flex-wrap:wrap;gap:8px;margin-left:auto}
.card>table:first-child th{border-top:0}
.back{display:none}
@container (max-width:680px){
.brand span{display:none}.brand{padding-right:2px}
.body{padding:10px}.split{display:block}
.split[data-open=true]>.pane:first-child,.split[data-open=false]>.pane:last-child{display:none}
.pane+.pane{border:0}
.back{display:inline-block}
table,tbody,tr,td{display:block}thead{display:none}
tr{padding:9px 12px;border-top:1px solid var(--line)}
td,td:not(:first-child){border:0;padding:2px 0}
td[data-label]::before{content:attr(data-label) ' ';color:var(--soft);font-size:12px}
td:has(.none){display:none}
.strip{max-width:none}
.log>li{grid-template-columns:auto 1fr;gap:0 10px}.log>li>:last-child{grid-column:1/-1}
.time>li{grid-template-columns:56px 1fr}.time>li::before{left:63px}.time>li::after{left:67px!important}
.options{grid-template-columns:max-content 1fr}.options>:nth-child(3n){grid-column:1/-1;margin:-2px 0 3px}
}
@media (max-width:680px){.dock{height:75vh}}
@media (prefers-reduced-motion:no-preference){.badge[data-tone=bad] .dot,.chip[data-busy] .dot{animation:p 1.6s ease-in-out infinite}@keyframes p{50%{opacity:.35}}}
@media (forced-colors:active){.strip i:not([data-cell=none]),.dot,.time>li::before{forced-color-adjust:none}.chip,.badge{border:1px solid}
.tabs button{border-color:Canvas}.tabs button[aria-selected=true]{border-color:Highlight}.op[aria-current=true]{border-left:3px solid Highlight}
button[data-primary]{forced-color-adjust:none;background:ButtonText;border-color:ButtonText;color:ButtonFace}button[aria-disabled=true]{border-color:GrayText;color:GrayText}}
`;
