-- gostress workload inmem-oltp: back to the original orders.
EXEC Demo.usp_DemoReset;
GO
