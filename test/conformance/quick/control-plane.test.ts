import { testDriver } from '../driver-suite.ts'

await testDriver('control-plane.ts')
