// What the accounts of an installation asked an API server for, by its audit log. A flow that is named for a right must use it,
// and nothing may be refused: so a right that is missing is found out, and one that nobody needs.

import { readFile } from 'node:fs/promises'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { allRights, type HeldRights } from '../../src/cli/install/all-rights.ts'
import type { Right } from '../../src/cli/install/right.ts'
import type { ApiServer } from '../bed/api-server.ts'
import { namespace as own } from './installation.ts'

const entrySchema = z.object({
  verb: z.string(),
  requestURI: z.string(),
  user: z.object({ username: z.string().default('') }),
  objectRef: z
    .object({
      apiGroup: z.string().default(''),
      resource: z.string(),
      subresource: z.string().optional(),
      namespace: z.string().optional(),
    })
    .optional(),
  annotations: z.record(z.string(), z.string()).default({}),
})

/** As the audit log knows each holder of rights; people go by the role they have. */
const userOf = (holder: string): string =>
  holder === 'Operator' || holder === 'Agent' ? `system:serviceaccount:${own}:slipway-${holder.toLowerCase()}` : holder

export const rightsTitle = 'each right that names this file was used, and nothing else was needed'

/** `file` as rights name it; `expected` are refusals that the flow is about. */
export async function expectRightsUsed(
  server: ApiServer,
  file: string,
  expected: readonly RegExp[] = [],
): Promise<void> {
  const named = allRights.flatMap((held) => held.rights.flatMap((right) => usesNamed(held, right, file)))
  expect(named.length, `no right names ${file}`).toBeGreaterThan(0)
  // What a flow has still to clear away, it does after its end is on record.
  const refused = await vi.waitFor(
    async () => {
      const uses = await readUses(server)
      expect(
        named.filter((use) => !uses.used.has(use)),
        'rights that were not used',
      ).toEqual([])
      return [...uses.refused]
    },
    { timeout: 60_000, interval: 1_000 },
  )
  expect(refused.filter((use) => !expected.some((pattern) => pattern.test(use)))).toEqual([])
}

/** `slipway-operator patch nodes`, `… create events.events.k8s.io in default` */
function usesNamed({ holder, namespace }: HeldRights, { rule, uses }: Right, file: string): readonly string[] {
  const place = namespace === 'own' ? own : namespace
  const verbs = Object.keys(uses).filter((verb) => uses[verb] === file)
  const whats =
    'resources' in rule ? rule.resources.map((name) => named(rule.apiGroups[0], name)) : rule.nonResourceURLs
  return verbs.flatMap((verb) => whats.map((what) => told(userOf(holder), verb, what, place)))
}

async function readUses({ auditLogPath }: ApiServer) {
  const used = new Set<string>()
  const refused = new Set<string>()
  const holders = new Set(allRights.map(({ holder }) => userOf(holder)))
  for (const line of (await readFile(auditLogPath, 'utf8')).split('\n')) {
    // A server that was killed may leave half a line.
    if (!line.endsWith('}')) continue
    const { user, verb, objectRef, requestURI, annotations } = entrySchema.parse(JSON.parse(line))
    if (!holders.has(user.username)) continue
    const what = objectRef
      ? named(objectRef.apiGroup, [objectRef.resource, objectRef.subresource].filter((part) => part).join('/'))
      : (requestURI.split('?')[0] ?? '')
    const uses = annotations['authorization.k8s.io/decision'] === 'allow' ? used : refused
    uses.add(told(user.username, verb, what, undefined))
    if (objectRef?.namespace !== undefined) uses.add(told(user.username, verb, what, objectRef.namespace))
  }
  return { used, refused }
}

const named = (group: string | undefined, resource: string) => (group ? `${resource}.${group}` : resource)
const told = (user: string, verb: string, what: string, namespace: string | undefined) =>
  `${user.split(':').at(-1)} ${verb} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`
