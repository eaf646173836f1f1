// What uninstall says at its end: what is still there, why, and what to do about it.

import { localSocketPath } from '../../api/local-protocol.ts'
import type { UncleanHost } from './forget-hosts.ts'

/** How it went with what the agents kept on their hosts. */
export type HostsLeft =
  /** It was asked to stay. */
  | { readonly hosts: 'Kept' }
  /** The agents are services of their hosts: a person takes them off there. */
  | { readonly hosts: 'Services' }
  /** Nothing was there: it was removed before, or never installed. */
  | { readonly hosts: 'Unasked' }
  /** The namespace is gone, so that no pod could look. */
  | { readonly hosts: 'Unseen'; readonly namespace: string }
  /** The namespace is being deleted, and takes no pod any more: of an earlier try nothing tells how far it came. */
  | { readonly hosts: 'TooLate'; readonly namespace: string }
  | { readonly hosts: 'LookedAfter'; readonly unclean: readonly UncleanHost[] }

export function needsPerson(left: HostsLeft): boolean {
  return (
    left.hosts === 'Unseen' || left.hosts === 'TooLate' || (left.hosts === 'LookedAfter' && left.unclean.length > 0)
  )
}

/** `stateDir`: the folder that the agents kept. */
export function whatStays(keepsData: boolean, left: HostsLeft, stateDir: string): string {
  const lines = [
    ...(keepsData ? ['Updates, profiles, policy and the namespace stay; slipway install goes on with them.'] : []),
    ...(left.hosts === 'Kept' ? [`On each host the journal stays in ${stateDir}.`] : []),
    'What updates and profiles changed on hosts stays as it is.',
    ...ofHosts(left, `rm -r --one-file-system ${stateDir} ${localSocketPath.replace(/\/[^/]*$/, '')}`),
  ]
  return `${lines.join('\n')}\n`
}

const otherNamespace = 'Name one that is there: slipway uninstall --namespace NAME --image IMAGE'

function ofHosts(left: HostsLeft, byHand: string): readonly string[] {
  switch (left.hosts) {
    case 'Kept':
    case 'Services':
      return []
    case 'Unasked':
      return ['Nothing of Slipway was in this cluster; no host was looked at.']
    case 'Unseen':
      return [
        `No host was looked after: there is no namespace ${left.namespace} for the pods that do it.`,
        otherNamespace,
        `Or by hand, on each host: ${byHand}`,
      ]
    case 'TooLate':
      return [
        `No host was looked after: namespace ${left.namespace} was being deleted already, and took no pod that could do it.`,
        'Where an earlier try said that it removed what the agents kept on the hosts, nothing is left there. Else:',
        otherNamespace,
        `Or by hand, on each host: ${byHand}`,
      ]
    case 'LookedAfter':
      if (left.unclean.length === 0) return []
      return [
        'On these hosts something of the agent stays:',
        ...left.unclean.map(({ node, why }) => `  ${node}: ${why}`),
        `Look there, then by hand: ${byHand}`,
      ]
  }
}
