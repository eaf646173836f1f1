/** Rows for what could not be had: tested against recorded output of the real tool, its source cited beside it. */
export const recordedOnly: readonly { readonly name: string; readonly driver: string }[] = [
  { name: 'runtime (cri-o)', driver: 'runtime' },
  { name: 'runtime (docker)', driver: 'runtime' },
  { name: 'runtime (iSulad)', driver: 'runtime' },
  { name: 'binary (k3s, RKE2, k0s)', driver: 'binary' },
]
