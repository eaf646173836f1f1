// The manifest of the usual update, as text that can be kept, read and given to kubectl.

export const strategies = ['Rolling', 'Canary', 'Batches', 'Parallel'] as const

export interface UsualUpdate {
  readonly name: string
  readonly version: string
  readonly strategy: (typeof strategies)[number]
  /** `1`, `10%`; empty: as the strategy has it. */
  readonly maxUnavailable: string
}

export function manifestOf({ name, version, strategy, maxUnavailable }: UsualUpdate): string {
  const most = maxUnavailable.trim()
  return [
    'apiVersion: slipway.dev/v1alpha1',
    'kind: DirectUpdate',
    'metadata:',
    `  name: ${scalar(name.trim())}`,
    'spec:',
    '  kubernetes:',
    `    version: ${scalar(version.trim())}`,
    '  strategy:',
    `    type: ${strategy}`,
    ...(most === '' ? [] : [`    maxUnavailable: ${/^\d+$/.test(most) ? most : scalar(most)}`]),
    '',
  ].join('\n')
}

/** `to-1-36-3` of v1.36.3: a name that says where it goes. */
export function nameFor(version: string): string {
  const words = version
    .trim()
    .toLowerCase()
    .replace(/^v/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return words === '' ? '' : `to-${words}`
}

/** Quoted where YAML would read something else than the text. */
function scalar(text: string): string {
  return /^[A-Za-z][\w.-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text)
}
