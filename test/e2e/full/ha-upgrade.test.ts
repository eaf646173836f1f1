import { describeUpgrade } from '../upgrade-story.ts'

describeUpgrade({ controlPlanes: 3, workers: 1 })
