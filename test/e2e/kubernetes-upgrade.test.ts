import { hostServiceStory } from './host-service-story.ts'
import { describeUpgrade } from './upgrade-story.ts'

describeUpgrade({ controlPlanes: 1, workers: 2 }, hostServiceStory)
