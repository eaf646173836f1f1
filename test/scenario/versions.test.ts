// Versions that are resolved, and paths over several minor versions that are walked.

import { describe, expect } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { configMaps } from '../../src/api/kube.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import { planText } from '../../src/cli/plan-text.ts'
import { presentID } from '../../src/core/update/path-step.ts'
import type { Registry } from '../../src/ports/registry.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { planOf } from './planned.ts'
import { ok, PretendWeb } from './pretend-web.ts'
import { type Story, type StoryOptions, scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'
import type { StoryUpdate } from './story-update.ts'

const nodes = oneAnd(2)
const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'
/** What hosts at v1.35.4 have in their index: their own minor version, and no other. */
const ownMinor = ['v1.35.4', 'v1.35.6']
const threeMinors = ['v1.35.4', 'v1.35.6', 'v1.36.1', 'v1.36.3', 'v1.37.0-rc.1', 'v1.37.2']

function registryOf(...tags: readonly string[]): Registry {
  return {
    tags: async (repository) => {
      expect(repository).toBe('registry.k8s.io/kube-apiserver')
      return tags
    },
    look: () => Promise.reject(new Error('nobody asks for one image')),
    referrers: () => Promise.reject(new Error('nobody asks for signatures')),
  }
}

const noRoute = () => Promise.reject(new SlipwayError('CannotReach', 'no route to the registry'))
const silentRegistry: Registry = {
  tags: noRoute,
  look: () => Promise.reject(new Error('nobody asks for one image')),
  referrers: () => Promise.reject(new Error('nobody asks for signatures')),
}

function versions({ cluster }: Story): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(cluster.names.map((name) => [name, cluster.node(name)?.status?.nodeInfo?.kubeletVersion]))
}

const all = (version: string) => ({ cp1: version, w1: version, w2: version })

/** How often the work on each node began, by the kubelet's restart. */
function turns({ cluster }: Story): Readonly<Record<string, number>> {
  return Object.fromEntries(
    cluster.names.map((name) => [
      name,
      cluster.machine(name).host.executions.filter(({ step }) => step === 'restart-kubelet').length,
    ]),
  )
}

async function atStep({ cluster }: Story, update: StoryUpdate, step: number): Promise<void> {
  await cluster.until(`step ${step + 1} begins`, () => update.status.path?.step === step)
}

async function killOperators({ cluster }: Story): Promise<void> {
  for (const process of cluster.sim.programs()) process.crash()
  await cluster.pass(1_000)
}

async function offers({ person }: Story, ...lines: readonly string[]): Promise<void> {
  const metadata = { name: 'slipway-versions', namespace: operatorNamespace }
  await person.creates(configMaps, { metadata, data: { versions: lines.join('\n') } })
}

const withIndex = (versionsOnOffer: readonly string[], more: Partial<StoryOptions> = {}): StoryOptions => ({
  nodes,
  versionsOnOffer,
  ...more,
})

describe('a path over two minor versions', () => {
  scenario('a version is the same with and without its v', { nodes: 2 }, async ({ update, cluster }) => {
    await update.kubernetes('1.36.3').succeeds()
    expect(cluster.names.map((name) => cluster.node(name)?.status?.nodeInfo?.kubeletVersion)).toEqual([
      'v1.36.3',
      'v1.36.3',
    ])
  })

  scenario('the control plane goes step by step, workers once', withIndex(threeMinors), async (story) => {
    const { cluster, update } = story
    const running = update.kubernetes('v1.37.2')
    await cluster.nodeIs('cp1', 'Working')
    expect(running.status.path).toEqual({
      ...{ current: 'v1.35.4', target: 'v1.37.2', steps: ['v1.36.3', 'v1.37.2'], step: 0 },
      ...{ workers: [1], source: 'Hosts' },
    })
    expect(running.condition('Progressing')?.message).toMatch(/^step 1 of 2: v1\.36\.3: 0\/1 nodes done/)
    await atStep(story, running, 1)
    expect(versions(story)).toEqual({ ...all('v1.35.4'), cp1: 'v1.36.3' })
    await running.succeeds()
    expect(versions(story)).toEqual(all('v1.37.2'))
    expect(turns(story)).toEqual({ cp1: 2, w1: 1, w2: 1 })
    expect(running.status.progress).toBe('3/3')
    expect(cluster.told('DirectUpdate', 'update')).toContain('StepStarted')
  })

  scenario('each step takes the workers along where that is asked for', withIndex(threeMinors), async (story) => {
    const running = story.update.of({ kubernetes: { version: 'latest', workers: 'EachStep' } })
    await atStep(story, running, 1)
    expect(versions(story)).toEqual(all('v1.36.3'))
    await running.succeeds()
    expect(versions(story)).toEqual(all('v1.37.2'))
    expect(turns(story)).toEqual({ cp1: 2, w1: 2, w2: 2 })
  })

  scenario(
    'an operator that is killed between the steps goes on where it was',
    withIndex(threeMinors),
    async (story) => {
      const running = story.update.kubernetes('v1.37.2')
      await atStep(story, running, 1)
      await killOperators(story)
      await running.succeeds()
      expect(turns(story)).toEqual({ cp1: 2, w1: 1, w2: 1 })
    },
  )

  scenario('and in the middle of the first one', withIndex(threeMinors), async (story) => {
    const running = story.update.kubernetes('1.37.*')
    await story.cluster.nodeIs('cp1', 'Working')
    await killOperators(story)
    await running.succeeds()
    expect(versions(story)).toEqual(all('v1.37.2'))
    expect(turns(story)).toEqual({ cp1: 2, w1: 1, w2: 1 })
  })

  scenario('paused in the first step, the second one waits', withIndex(threeMinors), async (story) => {
    const { cluster, update } = story
    const running = update.kubernetes('v1.37.2')
    await cluster.nodeIs('cp1', 'Working')
    await running.isEdited({ desiredState: 'Paused' })
    await cluster.nodeIs('cp1', 'Done')
    await cluster.pass(600_000)
    await running.is('Paused')
    expect(running.status.path?.step).toBe(0)
    expect(turns(story)).toEqual({ cp1: 1, w1: 0, w2: 0 })
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
    expect(versions(story)).toEqual(all('v1.37.2'))
  })

  scenario('cancelled between the steps it ends there, and says so', withIndex(threeMinors), async (story) => {
    const { cluster, update } = story
    const running = update.kubernetes('v1.37.2')
    await cluster.nodeIs('cp1', 'Working')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    await cluster.pass(60_000)
    expect(versions(story)).toEqual({ ...all('v1.35.4'), cp1: 'v1.36.3' })
    expect(cluster.taken).toEqual([])
  })

  scenario(
    'a failure in the first step stops the second; retried, it goes on',
    withIndex(threeMinors),
    async (story) => {
      const { cluster, update } = story
      cluster.failing.add('cp1')
      const running = update.kubernetes('v1.37.2')
      await running.fails()
      await cluster.pass(300_000)
      expect(running.status.path?.step).toBe(0)
      expect(versions(story)).toEqual(all('v1.35.4'))
      cluster.failing.delete('cp1')
      await running.isRetried('again')
      await running.succeeds()
      expect(versions(story)).toEqual(all('v1.37.2'))
    },
  )

  scenario('the second step waits for what its checks find', withIndex(threeMinors), async (story) => {
    const { cluster, update, person } = story
    const running = update.kubernetes('v1.37.2')
    await cluster.nodeIs('cp1', 'Working')
    const packages = [{ name: 'kubeadm', version: '1.36.*' }]
    await person.creates(nodeProfiles, { metadata: { name: 'pinned' }, spec: { rollout: 'ByUpdate', packages } })
    await running.is('InProgress', 'ProfileContradicted')
    expect(running.condition('Blocked')?.message).toMatch(
      /^step 2 of 2: v1\.37\.2 does not begin: .*NodeProfile pinned/,
    )
    expect(running.status.path?.step).toBe(0)
    await person.deletes(nodeProfiles, { name: 'pinned' })
    await running.succeeds()
    expect(versions(story)).toEqual(all('v1.37.2'))
  })

  scenario('an approval is for the step it was given in', withIndex(threeMinors), async (story) => {
    const { cluster, update } = story
    const strategy = { waves: [{ size: 1, promotion: 'Manual' as const }, { size: '100%' }] }
    const running = update.of({ kubernetes: { version: 'v1.37.2', workers: 'EachStep' }, strategy })
    const isWanted = () => running.status.wave?.promotion === 'Wanted'
    const approve = async () => {
      const operationID = presentID(running.status)
      const given = running.object?.spec.approvals ?? []
      const at = '2026-01-01T00:00:00Z'
      await running.isEdited({ approvals: [...given, { operationID, wave: 0, by: 'ana', at }] })
    }
    await cluster.until('the first wave of the first step waits', isWanted)
    await approve()
    await atStep(story, running, 1)
    expect(running.status.wave).toBeUndefined()
    await cluster.until('the first wave of the second step waits', isWanted)
    await cluster.pass(300_000)
    expect(turns(story)).toEqual({ cp1: 2, w1: 2, w2: 1 })
    await approve()
    await running.succeeds()
    expect(turns(story)).toEqual({ cp1: 2, w1: 2, w2: 2 })
  })

  scenario('what is done besides comes once, with the last step', withIndex(threeMinors), async (story) => {
    const { cluster, update } = story
    const running = update.script('true', { kubernetes: { version: 'v1.37.2' } })
    await atStep(story, running, 1)
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0 })
    await running.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  })

  scenario('a minor version that is nowhere on offer is named', withIndex(ownMinor), async (story) => {
    const running = story.update.kubernetes('v1.37.2')
    await running.is('Pending', 'VersionSkipsMinor')
    expect(running.condition('Planned')?.message).toContain('no version of v1.36 is on offer')
    expect(turns(story)).toEqual({ cp1: 0, w1: 0, w2: 0 })
    await offers(story, 'v1.36.2', '1.36.4', '', 'nonsense')
    await running.succeeds()
    expect(running.status.path?.steps).toEqual(['v1.36.4', 'v1.37.2'])
  })
})

describe('hooks on a path', () => {
  const http = (path: string) => ({ http: { url: `http://hooks.example/${path}` } })
  const hooks: NonNullable<DirectUpdateSpec['hooks']> = [
    { name: 'silence', when: 'BeforeUpdate', ...http('silence'), cleanup: http('speak') },
    { name: 'freeze', when: 'BeforeWave', ...http('freeze'), cleanup: http('thaw') },
    { name: 'look', when: 'AfterWave', ...http('look') },
    { name: 'tell', when: 'AfterUpdate', ...http('tell') },
  ]
  const told = (web: PretendWeb) => web.asked('hooks.example').map(({ url }) => new URL(url).pathname.slice(1))
  const web = new PretendWeb()
  web.answers('hooks.example', ok)

  scenario('those of the update once, those of waves in each step', withIndex(threeMinors, { web }), async (story) => {
    await story.update.kubernetes('v1.37.2', { hooks }).succeeds()
    await story.cluster.pass(10_000)
    const wave = ['freeze', 'look', 'thaw']
    expect(told(web)).toEqual(['silence', ...wave, ...wave, ...wave, 'tell', 'speak'])
  })

  const alone = new PretendWeb()
  alone.answers('hooks.example', ok)
  const controlPlane = { matchExpressions: [{ key: controlPlaneLabel, operator: 'Exists' as const }] }

  scenario('a control plane alone is left, too', withIndex(threeMinors, { web: alone }), async (story) => {
    await story.update.kubernetes('v1.36.3', { hooks, nodeSelector: controlPlane }).succeeds()
    await story.cluster.pass(10_000)
    expect(told(alone)).toEqual(['silence', 'freeze', 'look', 'thaw', 'tell', 'speak'])
  })
})

describe('a version that is looked for', () => {
  scenario('latest-patch: of the minor version that runs', withIndex(threeMinors), async (story) => {
    const running = await story.update.kubernetes('latest-patch').succeeds()
    expect(versions(story)).toEqual(all('v1.35.6'))
    expect(running.status.path).toMatchObject({ target: 'v1.35.6', steps: ['v1.35.6'], source: 'Hosts' })
    expect(running.status.operationID).not.toContain('.1')
  })

  scenario('latest-patch, and all run it: over, with nothing touched', withIndex(['v1.35.4']), async (story) => {
    const running = await story.update.kubernetes('latest-patch').succeeds()
    expect(running.condition('Succeeded')?.message).toMatch(/^nothing to do: every node runs v1\.35\.4/)
    expect(turns(story)).toEqual({ cp1: 0, w1: 0, w2: 0 })
    expect(story.cluster.names.map((name) => story.cluster.state(name)?.spec.order)).toEqual([
      ...[undefined, undefined, undefined],
    ])
  })

  scenario(
    'a registry says it where the hosts know only their own minor version',
    withIndex(ownMinor, { registry: registryOf('v1.35.9', 'v1.36.7', 'v1.36.8-rc.0', 'sha256-abc.sig') }),
    async (story) => {
      const running = await story.update.kubernetes('1.36.*').succeeds()
      expect(running.status.path).toMatchObject({ target: 'v1.36.7', source: 'Registry' })
      expect(versions(story)).toEqual(all('v1.36.7'))
    },
  )

  scenario(
    'a ConfigMap says it where the registry does not answer',
    withIndex(ownMinor, { registry: silentRegistry }),
    async (story) => {
      await offers(story, 'v1.36.5')
      const running = await story.update.kubernetes('latest').succeeds()
      expect(running.status.path).toMatchObject({ target: 'v1.36.5', source: 'ConfigMap' })
    },
  )

  const away = new Set<string>()
  const oftenAway: Registry = {
    ...silentRegistry,
    tags: () => (away.has('registry') ? noRoute() : Promise.resolve(['v1.35.4', 'v1.36.7'])),
  }
  scenario(
    'latest, and the registry is away: it waits, since nobody can tell where the way ends',
    withIndex(['v1.35.4'], { registry: oftenAway }),
    async (story) => {
      away.add('registry')
      const running = story.update.kubernetes('latest')
      await running.is('Pending', 'VersionUnknown')
      expect(running.condition('Planned')?.message).toMatch(
        /^whether there is a v1\.36 cannot be told \(asked: .*kube-apiserver could not be asked: no route to the registry; there is no ConfigMap/,
      )
      await story.cluster.pass(300_000)
      await running.is('Pending', 'VersionUnknown')
      away.delete('registry')
      await running.succeeds()
      expect(versions(story)).toEqual(all('v1.36.7'))
    },
  )

  scenario(
    'nobody knows one: it waits, says who was asked, and goes on when one does',
    withIndex(ownMinor),
    async (story) => {
      const running = story.update.kubernetes('1.36.*')
      await running.is('Pending', 'VersionUnknown')
      expect(running.condition('Planned')?.message).toBe(
        'nothing that fits "1.36.*" is on offer (asked: the hosts’ package index; registries are not asked from here; there is no ConfigMap slipway-system/slipway-versions)',
      )
      await offers(story, 'v1.36.5')
      await running.succeeds()
    },
  )

  scenario('what was resolved stands, whatever is on offer later', withIndex(ownMinor), async (story) => {
    const { cluster, update, person } = story
    await offers(story, 'v1.36.5')
    const running = update.kubernetes('1.36.*')
    await cluster.nodeIs('cp1', 'Working')
    await person.deletes(configMaps, { name: 'slipway-versions', namespace: operatorNamespace })
    await offers(story, 'v1.36.9')
    await killOperators(story)
    await running.succeeds()
    expect(versions(story)).toEqual(all('v1.36.5'))
  })
})

describe('a plan of a path', () => {
  scenario('shows its steps, and rehearses all of them', withIndex(threeMinors), async (story) => {
    const near = await planOf(story, { kubernetes: { version: 'v1.36.3' } })
    const far = await planOf(story, { kubernetes: { version: '1.37.*' } })
    expect(far).toMatchObject({ verdict: 'clear', nodes: 3, path: { steps: ['v1.36.3', 'v1.37.2'], workers: [1] } })
    expect(far.waves.map(({ nodes: taken }) => taken.map(({ name }) => name))).toEqual([['cp1'], ['w1', 'w2']])
    expect(far.durationSeconds.expected, 'the control plane is taken twice').toBeGreaterThan(
      near.durationSeconds.expected + 20,
    )
    expect(planText(far, false)).toContain('from v1.35.4 in 2 steps, known from the hosts; workers go to v1.37.2')
    expect(planText(far, false)).toContain('step 1 of 2: v1.36.3')
  })

  scenario('may be blocked where only a registry can know the way', withIndex(ownMinor), async (story) => {
    const plan = await planOf(story, { kubernetes: { version: 'v1.37.2' } })
    expect(plan).toMatchObject({ verdict: 'possiblyBlocked', blockers: [{ code: 'VersionSkipsMinor' }] })
    expect(plan.assumptions).toContainEqual(
      expect.stringMatching(/^which versions lie on the way to v1\.37\.2 is found out when the update starts/),
    )
  })

  scenario('is blocked where the way is no matter of versions', withIndex(ownMinor), async (story) => {
    const plan = await planOf(story, { kubernetes: { version: 'v2.0.0' } })
    expect(plan).toMatchObject({ verdict: 'blocked', blockers: [{ code: 'VersionSkipsMinor' }] })
  })
})
