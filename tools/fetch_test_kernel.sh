#!/bin/sh
# Fetch Debian's kernel with the modules of virtual machines into a directory, for tests that boot.
set -eu
into=${1:?fetch_test_kernel.sh DIRECTORY}
if [ -e "$into/vmlinuz" ] && [ -e "$into/modules/virtio_blk.ko" ]; then
    exit 0
fi
for program in apt-get apt-cache dpkg-deb; do
    command -v "$program" > /dev/null || {
        echo "fetch_test_kernel.sh: it takes Debian's $program" >&2
        exit 4
    }
done
package=$(apt-cache depends linux-image-amd64 | sed -n 's/ *Depends: //p' | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get download "$package" && dpkg-deb -x ./*.deb files)
rm -rf "$into"
mkdir -p "$into/modules"
for module in virtio virtio_ring virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev virtio_net \
    failover net_failover fscache netfs 9pnet 9pnet_virtio 9p loop overlay crc16 crc32c_generic \
    libcrc32c mbcache jbd2 ext4 virtio_blk; do
    find "$work/files/lib/modules" -name "$module.ko" -exec cp {} "$into/modules" \;
done
cp "$work"/files/boot/vmlinuz-* "$into/vmlinuz"
