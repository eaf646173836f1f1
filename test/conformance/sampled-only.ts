/** Rows for what could not be had: tested against sample output that stands for the real tool. */
export const sampledOnly: readonly { readonly name: string; readonly driver: string }[] = [
  { name: 'profile (kernel arguments: grubby, update-grub)', driver: 'profile' },
  { name: 'runtime (cri-o)', driver: 'runtime' },
  { name: 'runtime (iSulad)', driver: 'runtime' },
  { name: 'binary (k3s, RKE2, k0s)', driver: 'binary' },
]
