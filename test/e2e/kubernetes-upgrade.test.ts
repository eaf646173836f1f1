import { describeUpgrade } from './upgrade-story.ts'

describeUpgrade({ controlPlanes: 1, workers: 2 })
