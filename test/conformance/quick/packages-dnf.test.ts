import { testDriver } from '../driver-suite.ts'

await testDriver('packages-dnf.ts')
