import { driftWatch } from '../../src/agent/drift/drift-watch.ts'
import type { Driver } from '../../src/agent/drivers/driver.ts'
import { profileDriver } from '../../src/agent/drivers/profile/profile-driver.ts'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import type { SideTask } from '../../src/agent/side-task.ts'
import { Turn } from '../../src/agent/turn.ts'
import type { SealedText } from '../../src/api/sealed-text.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import { sealingContext } from '../../src/core/profile/sealing-context.ts'
import type { Sealing } from '../../src/ports/sealing.ts'
import type { StoryOptions } from './story.ts'

const keyOf = (node: string) => `key-of-${node}`

/** Sealing that anybody can read, but only the right one opens. */
const pretendSealing: Sealing = {
  newKeys: () => ({ publicKey: '', privateKey: '' }),
  seal: (plain, publicKey, context) => Buffer.from(JSON.stringify([publicKey, context, plain])).toString('base64'),
  open: (sealed, privateKey, context) => {
    const [key, for_, plain] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as string[]
    if (key !== privateKey || for_ !== context) throw new SlipwayError('SecretUnreadable', 'not for this host')
    return plain ?? ''
  },
}

interface Equipment {
  readonly driver: Driver
  readonly drift: SideTask
}

function equip(node: string): Equipment {
  const tools = {
    turn: new Turn(),
    open: (sealed: SealedText) =>
      Promise.resolve(pretendSealing.open(sealed.text, keyOf(node), sealingContext(sealed))),
    findKernelArguments: () => Promise.resolve(undefined),
  }
  return {
    driver: profileDriver({ ...tools, stateDir: '/var/lib/slipway', now: () => new Date(0) }),
    drift: driftWatch(tools),
  }
}

type KeyDay = (node: string, publish: () => void) => void

/** A cluster whose agents apply profiles: files only, as pretend machines have nothing else. `keyDay`: when a host has its key. */
export function profileStory(nodes: number, keyDay: KeyDay = (_node, publish) => publish()): StoryOptions {
  // Driver and watch of one agent share what they share on a real host.
  const lives = new Map<string, Equipment>()
  const life = (node: string) => {
    const known = lives.get(node) ?? equip(node)
    lives.set(node, known)
    return known
  }
  const publishKey: SideTask = {
    name: 'host-key',
    run: ({ publisher, nodeName }) => {
      keyDay(nodeName, () => publisher.publish({ publicKey: keyOf(nodeName) }))
      return Promise.resolve()
    },
  }
  const drift: SideTask = { name: 'drift', run: (context, signal) => life(context.nodeName).drift.run(context, signal) }
  return {
    nodes,
    sealing: pretendSealing,
    driversOf: (node) => [life(node).driver, scriptDriver, ...rehearsalDrivers],
    sideTasks: [publishKey, drift],
  }
}
