// The contract of the KubeApi port on the real thing: what the simulator promises must be what Kubernetes does.

import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, vi } from 'vitest'
import { parse } from 'yaml'
import { directUpdates } from '../../src/api/direct-update.ts'
import { configMaps, type KubeObject, type ResourceType } from '../../src/api/kube.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { startApiServer } from '../bed/api-server.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubeApiContract } from '../contract/kube-api-contract.ts'
import { realClient } from './real-client.ts'

const definitions: ResourceType = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}
const { signal } = new AbortController()
const folder = new URL('../../deploy/crds/', import.meta.url)
const missing = await whyNoApiServer()

describe.skipIf(missing)('real', () => {
  kubeApiContract('a real API server', async () => {
    const server = await startApiServer({ controllers: true })
    const { api } = await realClient(server.kubeconfigPath)
    for (const name of await readdir(folder)) {
      await api.create(definitions, parse(await readFile(new URL(name, folder), 'utf8')) as KubeObject, signal)
    }
    const served: readonly ResourceType[] = [directUpdates, nodeStates]
    for (const type of served) {
      await vi.waitFor(async () => expect((await api.list(type, {}, signal)).items).toEqual([]), 60_000)
    }
    return {
      api,
      forgetHistory: async () => {
        const { resourceVersion } = await api.list(configMaps, { limit: 1 }, signal)
        const body = JSON.stringify({ revision: resourceVersion })
        await fetch(`${server.etcdUrl}/v3/kv/compaction`, { method: 'POST', body })
        // A server that has just started has none of the old states in memory.
        await server.restartApi()
      },
      close: async () => {
        await api.close()
        await server.stop()
      },
    }
  })
})
