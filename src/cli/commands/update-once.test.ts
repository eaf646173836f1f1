// slipway update makes one update, and none for nodes that it would leave out by a name that is wrong.

import { describe, expect, it } from 'vitest'
import { cliFixture, heartbeat, node, nodeState } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { directUpdates } from '../../api/direct-update.ts'
import { leases, nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { nodeStates } from '../../api/node-state.ts'

const name = 'to-v1-36-3-abcde'

function twoNodes(): FakeKubeApi {
  return new FakeKubeApi()
    .put(nodes, node('cp1', { controlPlane: true }), node('w1'))
    .put(nodeStates, nodeState('cp1'), nodeState('w1'))
    .put(leases, heartbeat('cp1'), heartbeat('w1'))
}

/** Without the question who we are. */
const madeOn = (api: FakeKubeApi) => api.created.filter(({ kind }) => kind !== 'SelfSubjectReview')

describe('an update', () => {
  it.each([
    ['was made', true],
    ['was not made', false],
  ])('whose answer was lost and that %s', async (_, wasMade) => {
    const api = twoNodes()
    const lost = new KubeError('Unreachable', 'the connection was closed')
    const isUpdate = () => madeOn(api).some((object) => object.kind === 'DirectUpdate')
    let isLost = false
    const lose = () => {
      if (isLost) return
      isLost = true
      throw lost
    }
    if (wasMade) api.after = (verb) => (verb === 'create' && isUpdate() ? lose() : undefined)
    else api.before = (verb, type) => (verb === 'create' && type.kind === 'DirectUpdate' ? lose() : undefined)
    const cli = cliFixture(api)
    const code = await cli.run('update', '--kubernetes', 'v1.36.3', '--no-wait')
    expect(isLost).toBe(true)
    if (wasMade)
      expect({ code, out: cli.out.text }).toMatchObject({ code: 0, out: expect.stringContaining(`${name} created`) })
    else {
      expect(code).toBe(4)
      expect(cli.err.text).toContain(`make it again with --name ${name}`)
    }
  })

  it('is none that ended another day under the name that a person chose', async () => {
    const api = twoNodes()
    const asked = ['update', '--kubernetes', 'v1.36.3', '--name', 'nightly', '--no-wait']
    expect(await cliFixture(api).run(...asked)).toBe(0)
    const earlier = api.found(directUpdates, { name: 'nightly' })
    api.put(directUpdates, { ...earlier, status: { observedGeneration: 1, phase: 'Succeeded' } })
    api.before = (verb, type) => {
      if (verb === 'create' && type.kind === 'DirectUpdate')
        throw new KubeError('Unreachable', 'the connection was closed')
    }
    const cli = cliFixture(api)
    expect(await cli.run(...asked)).toBe(4)
    expect(cli.err.text).toContain('may have been made or not')
  })

  it('refuses to leave out a node that is not there', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    expect(await cli.run('update', '--kubernetes', 'v1.36.3', '--skip', 'w-1')).toBe(2)
    expect(cli.err.text).toContain('there is no node w-1')
    expect(madeOn(api)).toEqual([])
  })
})
