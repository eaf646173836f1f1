/** What a package repository would offer to a machine on this version: its own, two patches more, and the next minor. */
export function versionsOnOffer(version: string): readonly string[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (match === null) return [version]
  const [major, minor, patch] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return [
    version,
    `v${major}.${minor}.${patch + 1}`,
    `v${major}.${minor}.${patch + 2}`,
    `v${major}.${minor + 1}.0`,
    `v${major}.${minor + 1}.3`,
  ]
}
