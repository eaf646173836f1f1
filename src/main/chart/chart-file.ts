import { stringify } from 'yaml'

/** Chart.yaml: the chart has the version of the program it installs. */
export function chartFile(version: string): string {
  const chart = {
    apiVersion: 'v2',
    name: 'slipway',
    description: 'Keeps the machines under Kubernetes up to date: operating system, Kubernetes, packages, settings',
    type: 'application',
    version,
    appVersion: version,
    // The admission policies that fence the agents are served from this version on.
    kubeVersion: '>=1.30.0-0',
  }
  return `# Generated from package.json by make chart; do not edit.\n${stringify(chart, { version: '1.1', lineWidth: 0 })}`
}
