// kubectl is a package and nothing else. A host that has no such package does without it, or has it from elsewhere: nothing is
// staged then, and the step holds.

import type { Driver } from '../driver.ts'
import { installSteps, isInstalled, packagePicture, stageComponent, undoInstallSteps } from '../kubernetes-packages.ts'
import { asksFor, bringsPrograms } from '../kubernetes-target.ts'

export const kubectlDriver: Driver = {
  name: 'kubectl',
  concerns: (order) => asksFor('kubectl', order),
  inspect: ({ host }, signal) => packagePicture(host, ['kubectl'], signal),
  stage: async (staging, signal) => {
    if (bringsPrograms(staging.order) || !(await isInstalled(staging.host, 'kubectl', signal))) return undefined
    return await stageComponent('kubectl', staging, signal)
  },
  steps: (order) => (bringsPrograms(order) ? [] : installSteps('kubectl', order)),
  undo: {
    possible: true,
    steps: (order) => (bringsPrograms(order) ? [] : undoInstallSteps('kubectl', order)),
  },
}
