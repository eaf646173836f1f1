/**
 * $1 the file to put in place, $2 where, $3 where what stands there now is kept ('' = nowhere). A file is made beside its place
 * and renamed, so that at any moment one of the two is there, whole. A running program is not disturbed: it has its own inode.
 */
export const swapProgram = `
set -e
new=$1 path=$2 kept=$3
[ ! -L "$path" ] || path=$(readlink -f "$path")
folder=\${path%/*}
if [ -n "$kept" ] && [ -e "$path" ] && [ ! -e "$kept" ]; then
  cp -p "$path" "$kept.part"
  sync "$kept.part"
  mv -f "$kept.part" "$kept"
  sync "\${kept%/*}"
fi
mkdir -p "$folder"
part=$folder/.\${path##*/}.slipway-new
cp "$new" "$part"
chmod 0755 "$part"
if [ -e "$path" ]; then
  chown --reference="$path" "$part"
  chmod --reference="$path" "$part"
  chcon --reference="$path" "$part" 2>/dev/null || :
fi
sync "$part"
mv -f "$part" "$path"
sync "$folder"
`
