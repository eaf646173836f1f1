/** Rows for what could not be had: tested against recorded output of the real tool, its source cited beside it. */
export const recordedOnly: readonly { readonly name: string; readonly driver: string }[] = []
