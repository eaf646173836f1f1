// Why an operating system asks for a reboot.

const longest = 512

/** Debian and its kin: a file that is there, and the packages that wanted it beside it. */
export function askedByPackages(packages: string | undefined): string {
  const names = [...new Set((packages ?? '').split('\n').map((line) => line.trim()))].filter((name) => name !== '')
  return (names.length === 0 ? 'the operating system asks for it' : `wanted by ${names.join(', ')}`).slice(0, longest)
}

/** `needs-restarting -r` of dnf and yum: exit code 1 means yes, but also that it could not tell. */
export function askedByNeedsRestarting({ exitCode, stdout }: { readonly exitCode: number; readonly stdout: string }) {
  if (exitCode !== 1 || !/reboot is required/i.test(stdout)) return undefined
  const names = [...stdout.matchAll(/^\s+\*\s+(\S+)/gm)].map((match) => match[1] ?? '')
  return askedByPackages(names.join('\n'))
}
