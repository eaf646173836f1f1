import type { DeprecatedUse } from './sights.ts'

const metric = 'apiserver_requested_deprecated_apis{'

/** One line of the API server's metrics page: an API somebody asked for that has a version in which it goes. */
export function deprecatedUse(line: string): DeprecatedUse | undefined {
  if (!line.startsWith(metric)) return undefined
  const labels = new Map(
    [...line.slice(metric.length).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  )
  const removedIn = /^1\.(\d+)$/.exec(labels.get('removed_release') ?? '')?.[1]
  if (removedIn === undefined || line.endsWith(' 0')) return undefined
  const group = labels.get('group') || undefined
  const version = [group, labels.get('version')].filter((part) => part !== undefined).join('/')
  return { api: `${version} ${labels.get('resource') ?? ''}`, removedIn: Number(removedIn) }
}
