// The roles for people on a real API server: what each may do, and what the admission policies refuse all the same, in the words
// that reach a person through the command line.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { allRights } from '../../src/cli/install/all-rights.ts'
import { peopleRoles } from '../../src/cli/install/people-roles.ts'
import type { ResourceRule } from '../../src/cli/install/right.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { makePair } from '../bed/certificates.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { accountAccess, installSlipway, kubectl, namespace } from '../rollout-rig/installation.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { reachOf } from './every-request.ts'
import { type Answer, type PlainRequest, plainRequests } from './plain-request.ts'
import { writeKubeconfig } from './real-client.ts'
import {
  approval,
  at,
  cases,
  job,
  kubernetes,
  merge,
  needsHostAdmin,
  requestFor,
  rootFields,
  rootFieldsOfPolicy,
  script,
  type Who,
} from './role-cases.ts'

const missing = await whyNoApiServer()
const ours = '/apis/slipway.dev/v1alpha1'
const askedByAdmin = (name: string) => ({ name, annotations: { 'slipway.dev/asked-by': 'admin' } })

describe.skipIf(missing)('roles for people', () => {
  const people = new Map<Who, { readonly kubeconfig: string; readonly send: PlainRequest }>()
  let server: ApiServer

  const as = (who: Who): PlainRequest => people.get(who)?.send ?? (() => Promise.reject(new Error(`nobody is ${who}`)))
  const kubeconfigOf = (who: Who) => people.get(who)?.kubeconfig ?? ''
  const slipway = (who: Who, ...args: readonly string[]) => runSlipway(['--kubeconfig', kubeconfigOf(who), ...args])
  const create = (who: Who, plural: string, object: object): Promise<Answer> =>
    as(who)('POST', `${ours}/${plural}?dryRun=All`, { body: object })
  const patch = (who: Who, path: string, body: object): Promise<Answer> =>
    as(who)('PATCH', `${ours}/${path}`, { body, contentType: merge })
  const made = (kind: string, name: string, spec: object) => ({
    ...{ apiVersion: 'slipway.dev/v1alpha1', kind, metadata: { name }, spec },
  })

  beforeAll(async () => {
    server = await startApiServer({ controllers: false, audit: true })
    await installSlipway(server)
    people.set('admin', { kubeconfig: server.kubeconfigPath, send: await plainRequests(server.kubeconfigPath) })
    for (const { name, namespaceRights } of peopleRoles) {
      const { certificate, key } = makePair(server.authority, { name })
      const base64 = (text: string) => Buffer.from(text).toString('base64')
      const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
      const kubeconfig = await writeKubeconfig(server, `${name}.conf`, user)
      people.set(name.replace('slipway-', '') as Who, { kubeconfig, send: await plainRequests(kubeconfig) })
      await kubectl(server, ['create', 'clusterrolebinding', name, `--clusterrole=${name}`, `--user=${name}`])
      if (!namespaceRights) continue
      await kubectl(server, ['create', 'rolebinding', name, '-n', namespace, `--role=${name}`, `--user=${name}`])
    }
    await kubectl(
      server,
      ['create', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'w1' } }),
    )
    const objects = [
      made('NodeState', 'w1', {}),
      made('MaintenancePolicy', 'default', {}),
      made('DirectUpdate', 'plain', { kubernetes }),
      { ...made('DirectUpdate', 'scripted', { script }), metadata: askedByAdmin('scripted') },
      made('DirectUpdate', 'canary', { kubernetes, strategy: { type: 'Canary' } }),
    ]
    for (const object of objects) await kubectl(server, ['create', '-f', '-'], JSON.stringify(object))
    const wave = { index: 0, of: 3, size: 1, since: at, promotion: 'Wanted' }
    const status = { phase: 'InProgress', operationID: 'o', wave }
    await vi.waitFor(
      async () =>
        expect(await patch('admin', 'directupdates/canary/status', { status })).toMatchObject({ status: 200 }),
      60_000,
    )
    // The API server takes a moment to act on a new admission policy.
    const forged = { spec: { approvals: [approval('somebody')] } }
    await vi.waitFor(
      async () => expect((await patch('admin', 'directupdates/plain?dryRun=All', forged)).status).toBe(403),
      60_000,
    )
    await vi.waitFor(
      async () =>
        expect((await patch('editor', 'nodestates/w1?dryRun=All', { spec: { rollCall: 'x' } })).status).toBe(403),
      60_000,
    )
    await vi.waitFor(
      async () =>
        expect((await patch('editor', 'nodestates/w1?dryRun=All', { metadata: { labels: { a: 'b' } } })).status).toBe(
          403,
        ),
      30_000,
    )
  })

  afterAll(async () => {
    await server?.stop()
  })

  test('each may do what its role says', async () => {
    const people = allRights.filter(({ holder }) => holder.startsWith('slipway-'))
    const asked = people.flatMap(({ holder, namespace: place, rights }) =>
      rights.flatMap(({ rule }) => {
        const { resources, verbs, apiGroups } = rule as ResourceRule
        return resources.flatMap((resource) =>
          verbs.map((verb) => ({ holder, place, group: apiGroups[0] ?? '', resource, verb })),
        )
      }),
    )
    const answers = await Promise.all(
      asked.map(async ({ holder, place, group, resource, verb }) => {
        const [method, path, options] = requestFor(verb, group, resource, place === 'own' ? namespace : undefined)
        const { status } = await as(holder.replace('slipway-', '') as Who)(method, path, options)
        return { what: `${holder}: ${verb} ${resource}`, status }
      }),
    )
    expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([])
    expect(answers.length).toBeGreaterThan(80)
  })

  test('a viewer changes nothing at all', async () => {
    const reached = await reachOf(as('viewer'), as('admin'), {
      namespaces: [namespace, 'default'],
      names: ['w1', 'default', 'plain'],
    })
    const writes = reached.filter(({ what }) => !/^(get|list|watch) /.test(what)).map(({ what }) => what.split(' ')[1])
    expect(writes.sort()).toEqual([
      'selfsubjectaccessreviews.authorization.k8s.io',
      'selfsubjectreviews.authentication.k8s.io',
      'selfsubjectrulesreviews.authorization.k8s.io',
    ])
    expect(reached.filter(({ what }) => /secrets|configmaps|pods/.test(what))).toEqual([])
  })

  test.each(rootFields)('%s is for a host-admin: %j', async (field, spec) => {
    const kinds = [
      ['directupdates', made('DirectUpdate', 'new', spec)],
      ['scheduledupdates', made('ScheduledUpdate', 'new', { at, template: { spec } })],
      ['updateschedules', made('UpdateSchedule', 'new', { cron: '0 2 * * 6', template: { spec } })],
    ] as const
    for (const [plural, object] of kinds) {
      const answer = await create('editor', plural, object)
      expect(answer).toMatchObject({ status: 403, body: { message: expect.stringMatching(needsHostAdmin) } })
      expect(answer.body.message).toContain(field)
      expect(await create('host-admin', plural, object)).toMatchObject({ status: 201 })
    }
  })

  test.each(rootFieldsOfPolicy)('%s of the policy is for a host-admin', async (field, spec) => {
    const answer = await patch('editor', 'maintenancepolicies/default?dryRun=All', { spec })
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringMatching(needsHostAdmin) } })
    expect(answer.body.message).toContain(field)
    expect(await patch('host-admin', 'maintenancepolicies/default?dryRun=All', { spec })).toMatchObject({ status: 200 })
  })

  test.each(cases)('$who $what', async ({ who, path, body, says }) => {
    const answer = await patch(who, path, body)
    if (says) expect(answer).toMatchObject({ status: 403, body: { message: expect.stringMatching(says) } })
    else expect(answer).toMatchObject({ status: 200 })
  })

  test('an approver creates nothing', async () => {
    expect(await create('approver', 'directupdates', made('DirectUpdate', 'new', { kubernetes }))).toMatchObject({
      status: 403,
    })
  })

  test('nobody brings approvals along', async () => {
    const spec = { kubernetes, approvals: [approval('slipway-editor')] }
    expect(await create('editor', 'directupdates', made('DirectUpdate', 'new', spec))).toMatchObject({ status: 403 })
    const template = made('ScheduledUpdate', 'new', { at, template: { spec } })
    expect(await create('editor', 'scheduledupdates', template)).toMatchObject({ status: 403 })
  })

  test('nobody asks in the name of another', async () => {
    const object = { ...made('DirectUpdate', 'new', { kubernetes }), metadata: askedByAdmin('new') }
    expect(await create('editor', 'directupdates', object)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('slipway.dev/asked-by must be slipway-editor') },
    })
    expect(await create('admin', 'directupdates', object)).toMatchObject({ status: 201 })
  })

  test('the garbage collector takes away what it put on', async () => {
    const finalizers = ['foregroundDeletion']
    const object = { ...made('DirectUpdate', 'going', { kubernetes }), metadata: { name: 'going', finalizers } }
    await kubectl(server, ['create', '-f', '-'], JSON.stringify(object))
    const collector = 'system:serviceaccount:kube-system:generic-garbage-collector'
    const change = ['patch', 'directupdate', 'going', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']
    await kubectl(server, [...change, `--as=${collector}`])
    await kubectl(server, ['delete', 'directupdate', 'going'])
  })

  test('the operator makes what a schedule says: its writer was asked for the right', async () => {
    const { kubeconfig } = await accountAccess(server, 'slipway-operator', 'operator.conf')
    const operator = await plainRequests(kubeconfig)
    const object = made('DirectUpdate', 'made', { script, hooks: [job] })
    expect(await operator('POST', `${ours}/directupdates?dryRun=All`, { body: object })).toMatchObject({ status: 201 })
  })

  test('the command line works with each role, and says which one is missing', async () => {
    for (const args of [['status'], ['nodes'], ['why', 'w1']]) {
      expect(await slipway('viewer', ...args)).toMatchObject({ code: 0, err: '' })
    }
    const approved = await slipway('editor', 'approve', 'canary')
    expect(approved).toMatchObject({
      code: 4,
      err: 'error: you may not do this: to approve a wave needs the right to update directupdates/approval (ClusterRole slipway-approver) [NotPermitted]\nnext: ask for the role that is named, or use another --context\n',
    })
    expect(await slipway('approver', 'approve', 'canary')).toMatchObject({
      code: 0,
      out: expect.stringContaining('approved by slipway-approver'),
    })
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(server, 'roles', [/^slipway-(viewer|editor|approver|host-admin) /])
  })
})
