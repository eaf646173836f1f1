// For every value of the chart: another one, and what is then seen in what Helm renders.

export interface Flip {
  readonly to: unknown
  /** A piece of what differs: the objects that changed or came, or the names of those that went. */
  readonly shows: string
  /** What else must be set before it means something. */
  readonly with?: object
}

const tolerations = [{ key: 'gpu', operator: 'Exists' }]
const labels = { team: 'blue' }
const affinity = { nodeAffinity: {} }
const resources = { requests: { cpu: '2' } }

export const flips: Readonly<Record<string, Flip>> = {
  mode: { to: 'reboots', shows: '"gone":["Role kube-system slipway-operator"' },

  'image.repository': { to: 'registry.example/slipway', shows: '"image":"registry.example/slipway:' },
  'image.tag': { to: 'v9', shows: '"image":"slipway:v9"' },
  'image.digest': { to: `sha256:${'a'.repeat(64)}`, shows: '"image":"slipway@sha256:aaa' },
  'image.pullPolicy': { to: 'Always', shows: '"imagePullPolicy":"Always"' },
  'image.pullSecrets': { to: ['mine'], shows: '"imagePullSecrets":[{"name":"mine"}]' },

  'operator.replicas': { to: 3, shows: '"replicas":3' },
  'operator.logLevel': { to: 'debug', shows: '"--log-level=debug"' },
  'operator.metricsPort': { to: 9090, shows: '"--metrics-address=:9090"' },
  'operator.resources': { to: resources, shows: '"requests":{"cpu":"2"' },
  'operator.nodeSelector': { to: { pool: 'system' }, shows: '"nodeSelector":{"pool":"system"}' },
  'operator.tolerations': { to: tolerations, shows: '"tolerations":[{"key":"gpu","operator":"Exists"}]' },
  'operator.affinity': { to: affinity, shows: '"affinity":{"nodeAffinity":{}}' },
  'operator.topologySpreadConstraints': {
    to: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
    shows: '"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"rack"',
  },
  'operator.priorityClassName': { to: 'mine', shows: '"priorityClassName":"mine"' },
  'operator.podLabels': { to: labels, shows: '"team":"blue"' },
  'operator.podAnnotations': { to: labels, shows: '"annotations":{"team":"blue"}' },
  'operator.podDisruptionBudget.enabled': { to: false, shows: '"gone":["PodDisruptionBudget ops slipway-operator"]' },

  'agent.hostService': { to: true, shows: '"name":"system:nodes"' },
  'agent.logLevel': { to: 'warn', shows: '"--log-level=warn"' },
  'agent.stateDir': { to: '/data/slipway', shows: '"path":"/data/slipway"' },
  'agent.resources': { to: resources, shows: '"requests":{"cpu":"2"' },
  'agent.nodeSelector': { to: { pool: 'a' }, shows: '"pool":"a"' },
  'agent.tolerations': { to: tolerations, shows: '"tolerations":[{"key":"gpu","operator":"Exists"}]' },
  'agent.affinity': { to: affinity, shows: '"affinity":{"nodeAffinity":{}}' },
  'agent.priorityClassName': { to: 'mine', shows: '"priorityClassName":"mine"' },
  'agent.updateStrategy': {
    to: { type: 'OnDelete', rollingUpdate: null },
    shows: '"updateStrategy":{"type":"OnDelete"}',
  },
  'agent.podLabels': { to: labels, shows: '"team":"blue"' },
  'agent.podAnnotations': { to: labels, shows: '"annotations":{"team":"blue"}' },

  locks: { to: [{ namespace: 'kube-system', name: 'kured' }], shows: '"slipway-operator-lock-kured"' },
  'foreign.enabled': { to: true, shows: '"slipway-operator-foreign"' },
  'foreign.crds': {
    to: false,
    with: { foreign: { enabled: true } },
    shows: '"CustomResourceDefinition  updates.housekeeper.io"',
  },
  'crds.install': { to: false, shows: '"CustomResourceDefinition  nodestates.slipway.dev"' },
  'crds.keep': { to: false, shows: '"metadata":{"name":"nodestates.slipway.dev"}' },
  'namespace.create': { to: true, shows: '"kind":"Namespace"' },
  'namespace.labels': { to: labels, with: { namespace: { create: true } }, shows: '"team":"blue"' },
  'networkPolicy.enabled': { to: false, shows: '"gone":["NetworkPolicy ops slipway-operator"]' },
  'networkPolicy.metricsFrom': {
    to: [{ namespaceSelector: { matchLabels: labels } }],
    shows: '"from":[{"namespaceSelector":{"matchLabels":{"team":"blue"}}}]',
  },
  'service.enabled': { to: false, shows: '"gone":["Service ops slipway-operator"]' },
  'service.annotations': { to: labels, shows: '"annotations":{"team":"blue"}' },
  'serviceMonitor.enabled': { to: true, shows: '"kind":"ServiceMonitor"' },
  'serviceMonitor.labels': { to: labels, with: { serviceMonitor: { enabled: true } }, shows: '"team":"blue"' },
  'serviceMonitor.interval': { to: '5m', with: { serviceMonitor: { enabled: true } }, shows: '"interval":"5m"' },
  'prometheusRule.enabled': { to: true, shows: '"kind":"PrometheusRule"' },
  'prometheusRule.labels': { to: labels, with: { prometheusRule: { enabled: true } }, shows: '"team":"blue"' },
  'prometheusRule.runbookBase': {
    to: 'https://docs.example/runbooks/',
    with: { prometheusRule: { enabled: true } },
    shows: '"runbook_url":"https://docs.example/runbooks/slipway-no-leader.md"',
  },
  'grafanaDashboard.enabled': { to: true, shows: '"slipway.json"' },
  'grafanaDashboard.labels': { to: labels, with: { grafanaDashboard: { enabled: true } }, shows: '"team":"blue"' },
}
