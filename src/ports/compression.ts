/** Text made small for the way through the API: gzip, as base64. */
export interface Compression {
  pack(text: string): Promise<string>
  unpack(packed: string): Promise<string>
}
