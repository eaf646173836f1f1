import { describe, expect } from 'vitest'
import { configMaps, deployments, secrets } from '../../src/api/kube.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'

const path = '/etc/motd'
const texts = { name: 'texts', namespace: operatorNamespace }
const byUpdate = { rollout: 'ByUpdate', disruption: 'Drain' } as const
const fromConfigMap = { ...byUpdate, files: [{ path, configMap: { name: 'texts', key: 'motd' } }] }
const fromSecret = { ...byUpdate, files: [{ path, secret: { name: 'texts', key: 'motd' } }] }

async function contents({ cluster }: Story): Promise<readonly (string | undefined)[]> {
  return await Promise.all(cluster.names.map((name) => cluster.machine(name).host.files.read(path)))
}

describe('an update that rolls a profile out', () => {
  scenario('waits for a ConfigMap that is not there, and takes no node', profileStory(3), async (story) => {
    const { cluster, person, update } = story
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: fromConfigMap })
    const waiting = await update.of({ profile: 'base' }).is('InProgress', 'ProfileSourceMissing')
    await cluster.pass(120_000)
    expect(cluster.taken).toEqual([])
    expect(waiting.status.summary).toMatchObject({ done: 0, total: 3 })
    await person.creates(configMaps, { metadata: texts, data: { motd: 'hello\n' } })
    await waiting.succeeds()
    expect(await contents(story)).toEqual(['hello\n', 'hello\n', 'hello\n'])
  })

  scenario('leaves nodes alone that the profile does not select', profileStory(3), async (story) => {
    const { cluster, person, update } = story
    const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
    const spec = { ...byUpdate, nodeSelector, files: [{ path, content: 'hello\n' }] }
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
    const taken = new Set<string>()
    cluster.sim.server.onCommit(() => {
      for (const name of cluster.taken) taken.add(name)
    })
    const { status } = await update.of({ profile: 'base' }).succeeds()
    expect([...taken]).toEqual(['w1'])
    expect(status.summary).toMatchObject({ total: 3, done: 1, skipped: 2 })
  })

  let publishLate = () => {}
  const lateOnW1 = profileStory(4, (node, publish) => {
    if (node === 'w1') publishLate = publish
    else publish()
  })
  scenario('passes a host without a key over until it has one', lateOnW1, async (story) => {
    const { cluster, person, update } = story
    await person.creates(secrets, { metadata: texts, data: { motd: Buffer.from('hello\n').toString('base64') } })
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: fromSecret })
    const waiting = await update.of({ profile: 'base' }).is('InProgress', 'HostKeyMissing')
    await waiting.hasDone(3)
    await cluster.pass(120_000)
    expect(await contents(story)).toEqual(['hello\n', undefined, 'hello\n', 'hello\n'])
    expect(waiting.condition('Progressing')?.message).toContain('w1: /etc/motd of NodeProfile base is secret')
    publishLate()
    await waiting.succeeds()
    expect(await contents(story)).toEqual(['hello\n', 'hello\n', 'hello\n', 'hello\n'])
  })

  scenario('applies what was staged when the ConfigMap goes during the drain', profileStory(2), async (story) => {
    const { cluster, person, update } = story
    const pod = { nodeSelector: { 'kubernetes.io/hostname': 'w1' } }
    await person.deploys({ name: 'web', replicas: 1, maxUnavailable: 0, pod })
    await person.creates(configMaps, { metadata: texts, data: { motd: 'hello\n' } })
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: fromConfigMap })
    await cluster.pass(30_000)
    const running = update.of({ profile: 'base' })
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    await person.deletes(configMaps, texts)
    await cluster.pass(120_000)
    await person.deletes(deployments, { name: 'web', namespace: 'shop' })
    await running.succeeds()
    expect(await contents(story)).toEqual(['hello\n', 'hello\n'])
  })
})

describe('a Secret that is written again', () => {
  const disturbing = { ...fromSecret, rollout: 'Automatic' } as const
  const base64 = (text: string) => Buffer.from(text).toString('base64')

  scenario('changes hosts only with its value, whoever leads', profileStory(3), async (story) => {
    const { cluster, person } = story
    const { server } = cluster.sim
    const writes = async (body: object) => {
      const change = { type: 'merge', body: { ...body } } as const
      await cluster.sim.client('person').patch(secrets, texts, change, new AbortController().signal)
    }
    const profile = () => server.peek(nodeProfiles, { name: 'base' })?.status
    const taken = new Set<string>()
    await person.creates(secrets, { metadata: texts, data: { motd: base64('hello\n') } })
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: disturbing })
    await cluster.until('it is applied', () => profile()?.phase === 'Applied')
    await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
    server.onCommit(() => {
      for (const name of cluster.taken) taken.add(name)
    })
    await writes({ metadata: { annotations: { touched: 'once' } } })
    await cluster.pass(150_000)
    await writes({ data: { other: base64('another key') } })
    await cluster.pass(150_000)
    for (const program of cluster.sim.programs()) program.crash()
    await cluster.pass(300_000)
    expect([...taken]).toEqual([])
    expect(JSON.stringify(profile())).not.toContain(base64('hello\n'))
    await writes({ data: { motd: base64('hello again\n') } })
    await cluster.until('all were drained for it', () => taken.size === 3 && profile()?.phase === 'Applied')
    await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
    expect(await contents(story)).toEqual(['hello again\n', 'hello again\n', 'hello again\n'])
    expect(profile()?.secretVersions).toBeUndefined()
  })
})
