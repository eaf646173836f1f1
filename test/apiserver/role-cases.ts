// What people of each role try, and what they are told.

import type { PlainRequestOptions } from './plain-request.ts'

export const merge = 'application/merge-patch+json'
export const at = '2026-01-01T00:00:00Z'
export const sha256 = 'a'.repeat(64)
export const kubernetes = { version: 'v1.36.3' }
export const script = { configMap: 'work', sha256 }
export const approval = (by: string) => ({ operationID: 'o', wave: 0, by, at })
export const runNow = (by: string) => ({ operationID: 'o', reason: 'CVE', by, at })
export const job = { name: 'j', when: 'BeforeNode', job: { cronJob: 'c' } }
const evil = 'https://evil.example/'
const stolen = { name: 'store', key: 'secret' }
export const tokenGate = { type: 'Http', url: evil, bearerToken: stolen }
const silence = { url: evil, matchers: ['node="{node}"'] }

export type Who = 'viewer' | 'editor' | 'approver' | 'host-admin' | 'admin'

export const rootFields: readonly (readonly [string, object])[] = [
  ['script', { script }],
  ['binary', { binary: { name: 'b', url: 'https://x.example/b', sha256, path: '/usr/local/bin/b' } }],
  ['os.image', { os: { image: 'r.example/os:1' } }],
  ['airGapped', { kubernetes, airGapped: { bundle: { url: 'https://x.example/b', sha256 } } }],
  ['stamps', { kubernetes, stamps: ['/etc/nologin'] }],
  ['kubernetes.kubeadm.patches', { kubernetes: { ...kubernetes, kubeadm: { patches: '/tmp/patches' } } }],
  ['the Job of a hook', { kubernetes, hooks: [job] }],
  [
    'the Job of a hook',
    {
      kubernetes,
      hooks: [
        { name: 'h', when: 'BeforeNode', http: { url: 'https://x.example/' }, cleanup: { job: { cronJob: 'c' } } },
      ],
    },
  ],
  ['the Job of a gate', { kubernetes, gates: [{ type: 'Job', cronJob: 'c' }] }],
  ['the token of a gate', { kubernetes, gates: [tokenGate] }],
]
export const needsHostAdmin = /root on hosts.*directupdates\/hostcode \(ClusterRole slipway-host-admin\)/

export const rootFieldsOfPolicy: readonly (readonly [string, object])[] = [
  ['maintenance', { maintenance: { jobs: [{ name: 'j', configMap: 'c', sha256 }] } }],
  ['reboots.command', { reboots: { command: ['/bin/sh', '-c', 'x'] } }],
  ['backupStores', { backupStores: [{ name: 'evil', path: '/srv' }] }],
  ['etcd', { etcd: { endpoints: ['https://evil.example:2379'], secret: 's' } }],
  ['registries', { registries: [{ host: 'evil.example', secret: 's' }] }],
  ['the Job of a gate', { gates: [{ type: 'Job', cronJob: 'c' }] }],
  ['the token of a gate', { gates: [tokenGate] }],
  ['the token of a silence', { silences: [silence, { ...silence, name: 'other', bearerToken: stolen }] }],
  ['the Secret of a notification', { notifications: [{ name: 'n', webhook: { url: evil, signingSecret: stolen } }] }],
  ['the Secret of a notification', { notifications: [{ name: 'n', webhook: { urlSecret: stolen } }] }],
]

export interface Case {
  readonly who: Who
  readonly what: string
  readonly path: string
  readonly body: object
  readonly says?: RegExp
}
export const canary = 'directupdates/canary?dryRun=All'
const missingOwner = { apiVersion: 'v1', kind: 'Node', name: 'gone', uid: '00000000-0000-4000-8000-000000000000' }
const owned = { metadata: { ownerReferences: [missingOwner] } }
const kept = { metadata: { finalizers: ['example.org/for-ever'] } }
const needsDelete = (plural: string) => new RegExp(`needs the right to delete ${plural}`)
const askedBy = (name: string) => ({ metadata: { annotations: { 'slipway.dev/asked-by': name } } })
/** What nobody may write who may not delete the object. */
const fenced: readonly Case[] = (
  [
    ['approver', 'directupdates', 'canary'],
    ['editor', 'nodestates', 'w1'],
    ['editor', 'maintenancepolicies', 'default'],
    ['host-admin', 'nodestates', 'w1'],
  ] as const
).flatMap(([who, plural, name]) => {
  const common = { who, path: `${plural}/${name}?dryRun=All`, says: needsDelete(plural) }
  return [
    { ...common, what: `gives ${plural} no owner that is not there`, body: owned },
    { ...common, what: `gives ${plural} no finalizer`, body: kept },
  ]
})
export const cases: readonly Case[] = [
  { who: 'editor', what: 'pauses an update', path: canary, body: { spec: { desiredState: 'Paused' } } },
  {
    who: 'editor',
    what: 'pauses one that has a script',
    path: 'directupdates/scripted?dryRun=All',
    body: { spec: { desiredState: 'Paused' } },
  },
  {
    ...{ who: 'editor', what: 'does not send a script elsewhere', path: 'directupdates/scripted?dryRun=All' },
    ...{ body: { spec: { nodeSelector: { matchLabels: { a: 'b' } } } }, says: needsHostAdmin },
  },
  {
    who: 'editor',
    what: 'sets budgets',
    path: 'maintenancepolicies/default?dryRun=All',
    body: { spec: { budgets: [{ maxUnavailable: 2 }] } },
  },
  {
    who: 'editor',
    what: 'names an Alertmanager and a receiver that get no Secret',
    path: 'maintenancepolicies/default?dryRun=All',
    body: { spec: { silences: [silence], notifications: [{ name: 'n', webhook: { url: evil } }] } },
  },
  {
    who: 'editor',
    what: 'asks for logs',
    path: 'nodestates/w1?dryRun=All',
    body: { metadata: { annotations: { 'slipway.dev/logs-request': '{}' } } },
  },
  {
    who: 'editor',
    what: 'writes no order',
    path: 'nodestates/w1?dryRun=All',
    body: { spec: { rollCall: 'x' } },
    says: needsHostAdmin,
  },
  {
    who: 'editor',
    what: 'writes no other annotation of a NodeState',
    path: 'nodestates/w1?dryRun=All',
    body: { metadata: { annotations: { 'slipway.dev/other': 'x' } } },
    says: /the annotation slipway\.dev\/logs-request only/,
  },
  {
    who: 'editor',
    what: 'labels no NodeState',
    path: 'nodestates/w1?dryRun=All',
    body: { metadata: { labels: { a: 'b' } } },
    says: /the annotation slipway\.dev\/logs-request only/,
  },
  { who: 'editor', what: 'says that they asked for it', path: canary, body: askedBy('slipway-editor') },
  {
    who: 'editor',
    what: 'does not say that another asked for it',
    path: canary,
    body: askedBy('ana'),
    says: /slipway\.dev\/asked-by must be slipway-editor/,
  },
  {
    who: 'editor',
    what: 'pauses what another asked for',
    path: 'directupdates/scripted?dryRun=All',
    body: { metadata: { annotations: { 'slipway.dev/asked-by': 'admin' } }, spec: { desiredState: 'Paused' } },
  },
  { who: 'editor', what: 'gives an update an owner, which they may delete', path: canary, body: owned },
  ...fenced,
  {
    who: 'editor',
    what: 'approves nothing',
    path: canary,
    body: { spec: { approvals: [approval('slipway-editor')] } },
    says: /to approve a wave needs the right to update directupdates\/approval/,
  },
  {
    who: 'editor',
    what: 'does not run outside of windows',
    path: canary,
    body: { spec: { runNow: runNow('slipway-editor') } },
    says: /to run outside of windows and freezes needs the right/,
  },
  {
    who: 'editor',
    what: 'does not take the approvals out',
    path: canary,
    body: { spec: { strategy: { type: 'Rolling' } } },
    says: /to change the waves of a running update that asks for approvals needs the right/,
  },
  {
    who: 'editor',
    what: 'makes no profile',
    path: 'nodeprofiles/p',
    body: { spec: { sysctls: {} } },
    says: /cannot patch resource "nodeprofiles"/,
  },
  { who: 'approver', what: 'approves', path: canary, body: { spec: { approvals: [approval('slipway-approver')] } } },
  { who: 'approver', what: 'lets run', path: canary, body: { spec: { runNow: runNow('slipway-approver') } } },
  {
    who: 'approver',
    what: 'does not approve for another',
    path: canary,
    body: { spec: { approvals: [approval('ana')] } },
    says: /approvals\[\]\.by must be slipway-approver/,
  },
  {
    who: 'approver',
    what: 'does not run for another',
    path: canary,
    body: { spec: { runNow: runNow('ana') } },
    says: /runNow\.by must be slipway-approver/,
  },
  {
    who: 'approver',
    what: 'changes nothing else',
    path: canary,
    body: { spec: { skip: ['w1'], approvals: [approval('slipway-approver')] } },
    says: /may only approve them/,
  },
  {
    who: 'approver',
    what: 'labels nothing',
    path: canary,
    body: { metadata: { labels: { a: 'b' } } },
    says: /may only approve them/,
  },
  {
    who: 'approver',
    what: 'annotates nothing',
    path: canary,
    body: askedBy('slipway-approver'),
    says: /may only approve them/,
  },
  {
    who: 'host-admin',
    what: 'approves nothing',
    path: canary,
    body: { spec: { approvals: [approval('slipway-host-admin')] } },
    says: /directupdates\/approval/,
  },
  { who: 'admin', what: 'approves', path: canary, body: { spec: { approvals: [approval('admin')] } } },
  {
    who: 'admin',
    what: 'does not approve for another',
    path: canary,
    body: { spec: { approvals: [approval('ana')] } },
    says: /by must be admin/,
  },
]

/** A request that changes nothing, for some object of that kind. */
export function requestFor(verb: string, group: string, resource: string, place: string | undefined) {
  const [collection = '', sub] = resource.split('/')
  const root = group === '' ? '/api/v1' : `/apis/${group}/${group === 'slipway.dev' ? 'v1alpha1' : 'v1'}`
  const where = place ?? (collection === 'events' ? 'default' : undefined)
  const all = `${root}${where === undefined ? '' : `/namespaces/${where}`}/${collection}`
  const names: Readonly<Record<string, string>> = { maintenancepolicies: 'default', directupdates: 'plain' }
  const one = [all, names[collection] ?? 'w1', ...(sub === undefined ? [] : [sub])].join('/')
  const requests: Readonly<Record<string, readonly [string, string, PlainRequestOptions?]>> = {
    get: ['GET', one],
    list: ['GET', all],
    watch: ['GET', `${all}?watch=true&timeoutSeconds=1`],
    create: ['POST', `${all}?dryRun=All`, { body: {} }],
    update: ['PUT', `${one}?dryRun=All`, { body: {} }],
    patch: ['PATCH', `${one}?dryRun=All`, { body: {}, contentType: merge }],
    delete: ['DELETE', `${one}?dryRun=All`],
  }
  const found = requests[verb]
  if (!found) throw new Error(`no request is made for ${verb}`)
  return found
}
