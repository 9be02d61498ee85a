"""What every room uses: errors, meanings, the machine, array types, and how kernels are compiled."""
