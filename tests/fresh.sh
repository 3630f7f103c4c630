#!/usr/bin/env bash
# Proves the README's commands on a machine with nothing installed: a minimal Debian 12 in a chroot gets a copy of what
# git tracks and runs `scripts/dev run` twice, or the given command of scripts/dev once ("test", "kafka").
# Needs root and debootstrap. Usage: tests/fresh.sh DIRECTORY [COMMAND ARGUMENTS...]
set -euo pipefail
root=${1:?usage: tests/fresh.sh DIRECTORY [COMMAND ...] (empty or new, on a file system that allows devices)}
shift
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ ! -e "$root/etc/debian_version" ]; then
  # MIRROR: another archive than debootstrap's own default.
  debootstrap --variant=minbase bookworm "$root" ${MIRROR:+"$MIRROR"}
fi
cleanup() {
  for mount in proc sys dev/pts dev; do umount -l "$root/$mount" 2>/dev/null || true; done
}
trap cleanup EXIT
for mount in proc sys dev dev/pts; do
  mountpoint -q "$root/$mount" || mount --bind "/$mount" "$root/$mount"
done
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Certificates and the settings of apt, pip and npm of this machine, if a proxy needs them. Packages make their own bundles, also Java's,
# of what stands in the local folder.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
cp /etc/pip.conf "$root/etc/pip.conf" 2>/dev/null || true
cat /etc/npmrc "$HOME/.npmrc" >"$root/etc/npmrc" 2>/dev/null || true
mkdir -p "$root/usr/local/share/ca-certificates"
awk -v at="$root/usr/local/share/ca-certificates/host-" \
  '/BEGIN CERTIFICATE/ {file = at (++n) ".crt"} file {print > file} /END CERTIFICATE/ {close(file); file = ""}' \
  /etc/ssl/certs/ca-certificates.crt
rm -rf "$root/highwater"
mkdir -p "$root/highwater"
git -C "$tree" archive HEAD | tar -x -C "$root/highwater"

echo "fresh: packages before: $(chroot "$root" dpkg-query -f '.\n' -W | wc -l)"
# npm of a wheel has another file for the whole machine: it is named the user's.
in_root() {
  local what=$1 began
  shift
  began=$(date +%s)
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
    npm_config_userconfig=/etc/npmrc \
    /highwater/scripts/dev "$@"
  echo "fresh: $what \`scripts/dev $*\` took $(($(date +%s) - began)) s, exit 0"
}
if [ $# -gt 0 ]; then
  in_root the "$@"
else
  in_root first run
  in_root second run
fi
