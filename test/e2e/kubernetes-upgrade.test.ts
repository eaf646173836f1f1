// The cluster that docs/tutorial.md upgrades, with its own commands.

import { expect, test } from 'vitest'
import { releasedImage, SlipwayInCluster } from './slipway-in-cluster.ts'
import { follow } from './tutorial.ts'
import { describeUpgrade } from './upgrade-story.ts'

/** Prints what there is of ours on a host: folders, units of systemd, and the files of transient ones. */
const tracesOnHost = `
ls -d /var/lib/slipway* /run/slipway* 2>/dev/null
systemctl list-units --all --plain --no-legend 'slipway*'
systemctl list-unit-files --no-legend 'slipway*'
ls /run/systemd/transient /etc/systemd/system | grep slipway
true`

describeUpgrade(
  { controlPlanes: 1, workers: 2 },
  {
    install: async (cluster) => {
      await follow('An upgrade without a cluster', cluster)
      await cluster.importImage(releasedImage)
      await follow('A cluster to try it on', cluster)
      const told = await follow('Install', cluster)
      expect(told).toContain('node3')
      expect(await follow('Look before', cluster)).toContain('nothing is in its way')
      return await SlipwayInCluster.reach(cluster)
    },
    upgrade: async (slipway) => {
      expect(await follow('Upgrade', slipway.cluster)).toContain('Succeeded')
      return await slipway.ended('to-1-36', 1000)
    },
    afterwards: (stage) => {
      test('and without Slipway the cluster is as it was', async () => {
        const told = await follow('Go on', stage().cluster)
        expect(told).toContain('removed what the agents kept on the hosts')
        const { kubectl, nodes } = stage().cluster
        expect(
          await kubectl(['get', 'crds,clusterroles,validatingadmissionpolicies,namespaces', '-o', 'name']),
        ).not.toContain('slipway')
        for (const node of nodes) expect(await node.run(['sh', '-c', tracesOnHost])).toBe('')
      })
    },
  },
)
