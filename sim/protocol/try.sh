set -e
f=$1; shift; mode=$1; shift
rm -rf /tmp/sp; mkdir /tmp/sp; cp *.pml /tmp/sp; cd /tmp/sp
D=""; for d in "$@"; do D="$D -D$d"; done
spin $D -a $f
case $mode in
 bfs) gcc -O2 -DBFS -DCOLLAPSE -DMEMLIM=6000 -DNOCLAIM -o pan pan.c 2>/dev/null; timeout ${T:-100} ./pan -m100000 ;;
 dfs) gcc -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=8000 -DNOCLAIM -o pan pan.c 2>/dev/null; timeout ${T:-100} ./pan -m1000000 ;;
 live) gcc -O2 -DCOLLAPSE -DNFAIR=4 -DMEMLIM=8000 -o pan pan.c 2>/dev/null; timeout ${T:-100} ./pan -a -f -m1000000 ;;
esac | grep -E "error|states|transitions|assert|elapsed|acceptance|Warning|memory usage|depth reached|timeout" 
if [ -f $f.trail ]; then spin $D -t -T -B $f | grep '|' ; fi
