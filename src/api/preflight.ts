// Preflight: what is looked at before the first node is touched. The names are part of the API: updates skip checks by them.

import { z } from 'zod'

/** When each check fails, and when it only warns. */
export const checks = {
  Agents: {
    fails: 'a Ready node has no agent, or one that lacks a driver the work needs or is older than the operator',
  },
  VersionPath: {
    fails: 'a node would go down, over a minor version of which nothing is on offer, or above its API server',
  },
  PackageVersion: {
    fails: 'the repositories a host knows have newer ones of the minor version, but not this one',
    warns: 'they have older ones of the minor version only; whether this one is there is seen when the host stages',
  },
  ApiReady: { fails: 'the API server does not say that it is ready' },
  NodesReady: { fails: 'a control-plane node is not Ready', warns: 'a worker is not Ready; it is waited for' },
  DiskSpace: {
    fails: 'a selected node reports DiskPressure, or has less than 2 GiB free under /var',
    warns: 'a host does not say how much is free',
  },
  MemoryPressure: { fails: 'any node of the cluster reports MemoryPressure' },
  VersionSkew: {
    fails:
      'API servers are more than one minor version apart, or a kubelet is, or would be, outside what Kubernetes supports',
  },
  TargetRequirements: { fails: 'a host lacks what the target asks for, such as cgroup v2 or containerd 2.0' },
  KubeletFlags: { fails: 'a person’s files give the kubelet a flag that the target does not know' },
  RemovedApis: {
    fails: 'somebody asks for an API that the target has no more, or wrote objects with it',
    warns: 'the same for an API that goes later',
  },
  DisruptionBudgets: {
    fails: 'a PodDisruptionBudget can never allow an eviction',
    warns: 'the same, where `drain.onTimeout` is Force',
  },
  PodsUnderTwoBudgets: {
    fails: 'a pod is under two PodDisruptionBudgets, so that it can never be evicted',
    warns: 'the same, where `drain.onTimeout` is Force',
  },
  Capacity: {
    fails: 'pods of a node fit nowhere else, however they were placed',
    warns: 'pods of a node may find no room, and wait until it is back',
  },
  Certificates: {
    fails: 'a certificate of the control plane has run out, or does within a day and this update does not renew it',
    warns: 'the same within 30 days',
  },
  Sources: {
    fails:
      'an OS image is meant for a host with packages, or packages for a host booted from an image, or an OS image was not made for the architecture of a host',
    warns: 'a source failed when it was last tried, or no repository offers Kubernetes',
  },
  Bundle: { warns: 'the bundle was missing, broken or incomplete when a host last tried it' },
  ClockSkew: {
    fails: 'a clock is off by five minutes or more, or a Ready node has no Lease that would tell',
    warns: 'a clock is off by ten seconds or more',
  },
  ControlPlaneEndpoint: {
    warns: 'a kubelet of one of several control planes talks to an API server that is not its own',
  },
  Webhooks: {
    fails: 'an admission webhook that would refuse what the update needs has nobody who answers',
    warns:
      'one that may refuse some of it has nobody, stands on one node alone, or is behind a URL, which nobody can ask from here',
  },
  PolicyBudgets: { warns: 'the policy is paused, or its budgets are spent; it is waited for' },
} as const satisfies Readonly<Record<string, { readonly fails?: string; readonly warns?: string }>>

export type CheckName = keyof typeof checks

/** In the order in which their answers are told. */
export const checkNames = Object.keys(checks) as [CheckName, ...CheckName[]]

export const checkResults = ['Passed', 'Warning', 'Failed', 'Unknown', 'Skipped'] as const

export const maxCheckMessage = 1024

export const preflightSchema = z.strictObject({
  skip: z
    .array(z.enum(checkNames))
    .max(checkNames.length)
    .optional()
    .describe('checks whose answer does not count; what they would have said stands in status.preflight'),
})

export const checkReportsSchema = z
  .array(
    z.strictObject({
      check: z.enum(checkNames),
      result: z.enum(checkResults),
      message: z.string().max(maxCheckMessage),
    }),
  )
  .max(checkNames.length)
  .describe('what was found before the first node was touched; Failed and Unknown keep the update from starting')

export type CheckReport = z.infer<typeof checkReportsSchema>[number]
