import { testDriver } from '../driver-suite.ts'

await testDriver('kubectl.ts')
