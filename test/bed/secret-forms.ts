/** A secret as it is, and as others write it down: base64 as Secrets and Basic authentication have it, hexadecimal. */
export function secretForms(text: string): readonly string[] {
  return [
    text,
    ...[0, 1, 2].map((shift) => {
      // Within a longer text it may begin at any of three places; what the neighbours change is left out.
      const encoded = Buffer.from('x'.repeat(shift) + text)
        .toString('base64')
        .replace(/=+$/, '')
      return encoded.slice(shift === 0 ? 0 : 4, -2)
    }),
    Buffer.from(text).toString('hex'),
  ]
}

/** Which of these secrets, by their names, stand in the text in any form. */
export function secretsIn(text: string, planted: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(planted).flatMap(([what, value]) =>
    secretForms(value).some((form) => text.includes(form)) ? [what] : [],
  )
}
