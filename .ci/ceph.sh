#!/bin/bash
# A small S3 server for tests: one Ceph cluster in memory with two gateways.
#
#   bash .ci/ceph.sh start    installs Ceph where it is missing (Debian, root), starts it, prints `export` lines
#   bash .ci/ceph.sh env      prints the `export` lines only
#   bash .ci/ceph.sh status   exits 0 when both gateways answer
#   bash .ci/ceph.sh stop     stops it and removes its directory
#
# Typical use: eval "$(bash .ci/ceph.sh start)". Everything said for people goes to stderr.
# `start` on a running cluster changes nothing; on a half-dead one it begins anew.
# Nothing is kept in the checkout and no authentication is set between the daemons: loopback only.
#
# Settings: CEPH_DIR (/tmp/bucketstore-ceph-UID), CEPH_PORT (7480; the second gateway has the next
# one), CEPH_MON_PORT (6789), CEPH_STORE (memstore, or bluestore to survive a restart of the OSD).
set -euo pipefail

DIR=${CEPH_DIR:-/tmp/bucketstore-ceph-$(id -u)}
PORT=${CEPH_PORT:-7480}
PORT_B=$((PORT + 1))
MON_PORT=${CEPH_MON_PORT:-6789}
STORE=${CEPH_STORE:-memstore}
ACCESS_KEY=ciaccesskey
SECRET_KEY=cisecretkey
export CEPH_CONF=$DIR/ceph.conf

say() { echo "ceph: $*" >&2; }
die() { say "$*"; exit 1; }

print_env() {
  echo "export BUCKETSTORE_TEST_S3=http://127.0.0.1:$PORT"
  echo "export BUCKETSTORE_TEST_S3_B=http://127.0.0.1:$PORT_B"
  echo "export BUCKETSTORE_TEST_S3_KEY=$ACCESS_KEY"
  echo "export BUCKETSTORE_TEST_S3_SECRET=$SECRET_KEY"
}

# The daemons must hold no descriptor of the caller, or a pipe that reads this script never ends.
quiet() { "$@" >>"$DIR/log/start.out" 2>&1 </dev/null 3>&- 4>&- 5>&-; }

answers() { curl -s -o /dev/null --max-time 5 "http://127.0.0.1:$1/"; }

alive() { [ -f "$DIR/run/$1.pid" ] && kill -0 "$(cat "$DIR/run/$1.pid")" 2>/dev/null; }

is_up() {
  for name in mon.a osd.0 client.rgw.a client.rgw.b; do alive $name || return 1; done
  answers "$PORT" && answers "$PORT_B"
}

install_ceph() {
  local missing=0
  for tool in ceph-mon ceph-mgr ceph-osd radosgw radosgw-admin ceph monmaptool curl; do
    command -v $tool >/dev/null || missing=1
  done
  [ $missing = 0 ] && return
  [ "$(id -u)" = 0 ] || die "not installed, and installing needs root"
  command -v apt-get >/dev/null || die "not installed, and there is no apt-get here"
  say "installing (about a minute, 0.5 GB)"
  {
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ceph-mon ceph-osd ceph-mgr radosgw ceph-common curl
  } >"$DIR/log/install.out" 2>&1 </dev/null ||
    { tail -n 20 "$DIR/log/install.out" >&2; die "the installation failed"; }
}

write_conf() {
  cat >"$CEPH_CONF" <<CONF
[global]
fsid = $1
mon host = v1:127.0.0.1:$MON_PORT
public addr = 127.0.0.1
cluster addr = 127.0.0.1
public network = 127.0.0.0/8
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 1000
osd crush chooseleaf type = 0
run dir = $DIR/run
admin socket = $DIR/run/\$name.asok
pid file = $DIR/run/\$name.pid
log file = $DIR/log/\$name.log
mon cluster log file = $DIR/log/cluster.log
log to stderr = false
setuser match path = $DIR/none
[mon]
mon data = $DIR/mon
mon data avail warn = 1
mon data avail crit = 1
[mgr]
mgr data = $DIR/mgr
mgr initial modules =
[osd]
osd data = $DIR/osd
osd objectstore = $STORE
memstore device bytes = 4294967296
bluestore block size = 8589934592
bluestore fsck on mount = false
# At its start an OSD may send these two commands before it knows the cluster, and dies of the
# refusal ("wrong fsid"). It is put into the map by hand below.
osd class update on start = false
osd crush update on start = false
[client]
rgw enable usage log = false
rgw enable ops log = false
rgw dns name = localhost
rgw thread pool size = 128
rgw gc max objs = 7
[client.rgw.a]
rgw frontends = beast endpoint=127.0.0.1:$PORT tcp_nodelay=1
[client.rgw.b]
rgw frontends = beast endpoint=127.0.0.1:$PORT_B tcp_nodelay=1
CONF
}

# Waits up to $1 seconds for a command to succeed.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}

osd_up() { ceph osd stat 2>/dev/null </dev/null | grep -q '1 up'; }

start_cluster() {
  local fsid osd_uuid
  fsid=$(cat /proc/sys/kernel/random/uuid)
  osd_uuid=$(cat /proc/sys/kernel/random/uuid)
  write_conf "$fsid"
  quiet monmaptool --create --clobber --fsid "$fsid" --addv a "[v1:127.0.0.1:$MON_PORT]" "$DIR/monmap"
  quiet ceph-mon --mkfs -i a --monmap "$DIR/monmap"
  quiet ceph-mon -i a
  quiet ceph -s --connect-timeout 20
  quiet ceph-mgr -i x || say "the manager did not start; going on without it"
  # Both must be given the same UUID, or the OSD refuses the cluster and never comes up.
  quiet ceph osd new "$osd_uuid" 0
  quiet ceph-osd -i 0 --mkfs --osd-uuid "$osd_uuid"
  quiet ceph osd crush add osd.0 1.0 root=default host=h || true
  quiet ceph-osd -i 0
  wait_for 60 osd_up || { say "the OSD is not up"; return 1; }
}

start_gateways() {
  quiet radosgw -n client.rgw.a
  wait_for 120 answers "$PORT" || { say "no gateway on port $PORT"; return 1; }
  quiet radosgw-admin user create --uid=ci --display-name=ci \
    --access-key="$ACCESS_KEY" --secret-key="$SECRET_KEY"
  quiet radosgw -n client.rgw.b
  wait_for 120 answers "$PORT_B" || { say "no gateway on port $PORT_B"; return 1; }
}

# Gateways first and the monitor last: signalled all at once the OSD hangs.
stop_daemons() {
  local name file pid
  for name in client.rgw.b client.rgw.a osd.0 mgr.x mon.a; do
    file=$DIR/run/$name.pid
    [ -f "$file" ] || continue
    pid=$(cat "$file")
    # A stale file may name a process that is none of ours by now.
    if grep -aqE 'ceph-(mon|mgr|osd)|radosgw' "/proc/$pid/cmdline" 2>/dev/null; then
      kill "$pid" 2>/dev/null || true
      wait_for 15 gone "$pid" || kill -9 "$pid" 2>/dev/null || true
    fi
    rm -f "$file"
  done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# Removes only what `start` made.
remove_dir() {
  [ -f "$DIR/.bucketstore-ceph" ] || return 0
  rm -rf "$DIR"
}

case ${1:-} in
start)
  if is_up; then
    say "runs already"
  else
    [ -z "$(ls -A "$DIR" 2>/dev/null)" ] || [ -f "$DIR/.bucketstore-ceph" ] ||
      die "$DIR holds something else; set CEPH_DIR"
    stop_daemons
    remove_dir
    umask 077
    mkdir -p "$DIR"/{mon,mgr,osd,run,log}
    touch "$DIR/.bucketstore-ceph"
    install_ceph
    say "starting in $DIR (about 15 s)"
    start_cluster && start_gateways || { stop_daemons; die "start failed; see $DIR/log"; }
    say "answers on ports $PORT and $PORT_B"
  fi
  print_env
  ;;
env) print_env ;;
status) is_up ;;
stop)
  stop_daemons
  remove_dir
  ;;
*) die "usage: bash .ci/ceph.sh start|env|status|stop" ;;
esac
