#!/usr/bin/env bash
# Proves the first README command on a machine with nothing installed: a minimal Debian 12 in a chroot gets a copy of
# what git tracks and runs `scripts/dev run` twice. Needs root and debootstrap. Usage: tests/fresh.sh DIRECTORY
set -euo pipefail
root=${1:?usage: tests/fresh.sh DIRECTORY (empty or new, on a file system that allows devices)}
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ ! -e "$root/etc/debian_version" ]; then
  # MIRROR: another archive than debootstrap's own default.
  debootstrap --variant=minbase bookworm "$root" ${MIRROR:+"$MIRROR"}
fi
cleanup() {
  for mount in proc sys dev; do umount -l "$root/$mount" 2>/dev/null || true; done
}
trap cleanup EXIT
for mount in proc sys dev; do
  mountpoint -q "$root/$mount" || mount --bind "/$mount" "$root/$mount"
done
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Certificates and apt settings of this machine, if a proxy needs them.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
rm -rf "$root/highwater"
mkdir -p "$root/highwater"
git -C "$tree" archive HEAD | tar -x -C "$root/highwater"

echo "fresh: packages before: $(chroot "$root" dpkg-query -f '.\n' -W | wc -l)"
for round in first second; do
  began=$(date +%s)
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
    /highwater/scripts/dev run
  echo "fresh: $round \`scripts/dev run\` took $(($(date +%s) - began)) s, exit 0"
done
