# Kernels of Debian in virtual machines without hardware acceleration: shared by test-guest and gap-guest, which set `program`.
# Files are in a separate folder outside the tree. Needs Debian, and root to install missing packages.
# shellcheck shell=sh
folder=${AIRPATH_GUEST:-${XDG_CACHE_HOME:-$HOME/.cache}/airpath-guest}
packages="qemu-system-x86 busybox-static cpio"
keys=/usr/share/keyrings/debian-archive-keyring.gpg

fail() { echo "${program:?}: $1" >&2; exit 1; }

prepare() {
  [ "$(uname -m)" = x86_64 ] || fail "skipped, because the guest needs an x86_64 machine."
  for command in qemu-system-x86_64 busybox cpio; do
    command -v "$command" >/dev/null 2>&1 && continue
    [ "$(id -u)" = 0 ] || fail "needs '$command' (as root: apt-get install $packages)."
    apt-get update --quiet >/dev/null 2>&1 || fail "apt-get cannot update its lists of packages."
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends $packages >/dev/null 2>&1 ||
      fail "cannot install $packages."
  done
  mkdir -p "$folder"
}

# Runs apt with lists of its own, so that those of the machine do not change: `of_suite SUITE COMMAND ...`.
of_suite() {
  suite=$1
  lists=$folder/apt/$suite
  shift
  mkdir -p "$lists/state/lists/partial" "$lists/cache/archives/partial"
  echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$lists/sources"
  command=$1
  shift
  "$command" -o Dir::Etc::sourcelist="$lists/sources" -o Dir::Etc::sourceparts=- -o Dir::State="$lists/state" \
    -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$lists/cache" --quiet "$@"
}

# Downloads and unpacks the newest kernel of a suite, without installing it: `fetch_kernel SUITE PACKAGE`, where PACKAGE depends on
# the kernel. Sets `image`.
fetch_kernel() {
  of_suite "$1" apt-get update >/dev/null 2>&1 || fail "cannot read the package list of Debian's $1."
  image=$(of_suite "$1" apt-cache depends "$2" | sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -n 1)
  [ -n "$image" ] || fail "Debian's $1 has no package $2."
  [ ! -f "$folder/$image/vmlinuz" ] || return 0
  rm -rf "${folder:?}/$image"
  mkdir -p "$folder/$image"
  (cd "$folder/$image" && of_suite "$1" apt-get download "$image" >/dev/null 2>&1 && dpkg-deb --extract ./*.deb . &&
    rm ./*.deb) || fail "cannot fetch the package $image."
  mv "$folder/$image"/boot/vmlinuz-* "$folder/$image/vmlinuz"
}

# Packs the folder $folder/root into $folder/initramfs.
pack_root() { (cd "$folder/root" && find . | cpio --quiet --create --format newc) | gzip -1 >"$folder/initramfs"; }
