import type { Container, CronJob, Job, PodSpec } from '../../api/kube.ts'

export interface JobTerms {
  readonly name: string
  readonly namespace: string
  readonly label: string
  readonly purpose: string
  readonly environment: Readonly<Record<string, string>>
  readonly onNode?: string | undefined
  readonly timeoutMs: number
}

type NewJob = Pick<Job, 'spec'> & {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
}

/** That it ran is known by its being there: it stays longer than anybody would look for it. */
const keptSeconds = 7 * 24 * 3600

/** A Job of our own from a CronJob's template. The API server ends it when its time is over, whether or not we are there. */
export function jobOf(template: CronJob['spec']['jobTemplate'], terms: JobTerms): NewJob {
  const { name, namespace, label, purpose, environment, onNode, timeoutMs } = terms
  const { metadata, spec } = template
  const pod = spec.template.spec
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace,
      labels: { ...metadata?.labels, [label]: 'true' },
      annotations: { ...metadata?.annotations, 'slipway.dev/purpose': purpose },
    },
    spec: {
      ...spec,
      activeDeadlineSeconds: Math.max(1, Math.ceil(timeoutMs / 1000)),
      ttlSecondsAfterFinished: keptSeconds,
      template: {
        ...spec.template,
        spec: {
          ...pod,
          ...withEnvironment(pod, environment),
          ...(onNode !== undefined && { nodeName: onNode }),
        },
      },
    },
  }
}

function withEnvironment(
  { containers, initContainers }: PodSpec,
  environment: Readonly<Record<string, string>>,
): Partial<PodSpec> {
  const ours = Object.entries(environment).map(([name, value]) => ({ name, value }))
  const told = (container: Container): Container => {
    const own = Array.isArray(container.env) ? (container.env as readonly { readonly name: string }[]) : []
    return { ...container, env: [...own.filter(({ name }) => !(name in environment)), ...ours] }
  }
  return {
    containers: containers.map(told),
    ...(Array.isArray(initContainers) && { initContainers: (initContainers as readonly Container[]).map(told) }),
  }
}
