/** Which trouble struck how often, by the phase of the node concerned. `faults`: `kind phase` to how often. */
export function faultTable(faults: Readonly<Record<string, number>>): readonly string[] {
  const kinds = new Map<string, Map<string, number>>()
  for (const [key, count] of Object.entries(faults)) {
    const [kind = '', phase = ''] = key.split(' ')
    const phases = kinds.get(kind) ?? new Map<string, number>()
    kinds.set(kind, phases.set(phase, (phases.get(phase) ?? 0) + count))
  }
  const phases = [...new Set([...kinds.values()].flatMap((counts) => [...counts.keys()]))].toSorted()
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [
    row(['fault', ...phases]),
    row(['---', ...phases.map(() => '---:')]),
    ...[...kinds.keys()]
      .toSorted()
      .map((kind) => row([kind, ...phases.map((phase) => (kinds.get(kind)?.get(phase) ?? 0).toLocaleString('en-US'))])),
  ]
}
