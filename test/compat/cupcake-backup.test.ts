// Backups of CUPCAKE, before an update and asked for by ConfigMap.

import { describe, expect } from 'vitest'
import { type ConfigMap, configMaps } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { scenario } from '../scenario/story.ts'
import type { StoryCluster } from '../scenario/story-cluster.ts'
import { applies, reaches, usual } from './cupcake-story.ts'
import { installForeign } from './manifest.ts'

describe('a backup', () => {
  const operation = '8d3a2c1e-0000-4000-8000-000000000001'
  const mapsOf = ({ sim }: StoryCluster) =>
    (sim.server.peekAll(configMaps) as readonly ConfigMap[]).filter(({ metadata }) =>
      metadata.name.startsWith('backup-'),
    )

  scenario('is made before the control plane is taken, and told of', usual, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ backupStores: [{ name: 'here', path: '/var/backups' }] })
    await applies(story, 'basic')
    const { status } = await reaches(story, 'basic', 'Succeeded')
    expect(status?.backupInfo).toMatchObject({ etcdSnapshot: /./, timestamp: /./ })
    const [reply] = mapsOf(cluster)
    expect(reply?.metadata.name).toBe(`backup-status-${status?.operationID}-cp1`)
    expect(reply?.data).toMatchObject({
      completed: 'true',
      success: 'true',
      upload_path: status?.backupInfo?.etcdSnapshot,
    })
  })

  scenario('that is asked for by ConfigMap is made and answered', usual, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ backupStores: [{ name: 'here', path: '/var/backups' }] })
    await installForeign(story)
    const labels = { 'cupcake.ricardomolendijk.com/backup': 'true' }
    const name = `backup-${operation}-cp1`
    await person.creates(configMaps, {
      metadata: { name, namespace: operatorNamespace, labels },
      data: { operation_id: operation, node_name: 'cp1', snapshot_name: 'etcd-snapshot-1', backup_type: 'etcd' },
    })
    const names = () => mapsOf(cluster).map(({ metadata }) => metadata.name)
    await cluster.until('it is answered', () => names().join() === `backup-status-${operation}-cp1`)
    expect(mapsOf(cluster)[0]?.data).toMatchObject({
      ...{ completed: 'true', success: 'true', snapshot_name: 'etcd-snapshot-1', upload_path: /./ },
    })
  })
})
